/** Where a manifest is on another service, below its `/api/v1`. */
export const catalogPath = (...parts: readonly string[]): string =>
  ['/catalog', ...parts.map(part => encodeURIComponent(part.toWellFormed()))].join('/')
