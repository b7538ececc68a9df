/** What the platform has to know of the edge. `npm run edge` uses it, and a test compares it with wrangler.toml. */
export const edgeSettings = {
  name: 'vmhost-edge',
  script: 'dist/edge/edge.mjs',
  compatibilityDate: '2026-07-01',
  compatibilityFlags: ['nodejs_compat'],
  /** Binding → class. The names of classes are a format: the platform finds the stored objects by them. */
  durableObjects: { CONTROL: 'Control' },
  /** Binding → entrypoint of the same script. */
  entrypoints: { PASSWORDS: 'Passwords' },
} as const
