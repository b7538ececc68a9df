import type { HostChoice } from './context.ts'

/** Separates what a request says about its host from what the host gets. */
export const splitRequest = <T extends object>(request: T & HostChoice): { choice: HostChoice; body: T } => {
  const { host, host_labels, ...body } = request
  // Without the members of `HostChoice` a request of this type is a `T`.
  return { choice: { host, host_labels }, body: body as unknown as T }
}
