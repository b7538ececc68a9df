import { existsSync, readFileSync } from 'node:fs'
import type { Runtime } from './runtime.ts'

const bundle = 'dist/edge.mjs'

/** Whether the edge has a state: only then it serves what needs one. */
const hasState = (): boolean => existsSync(bundle) && readFileSync(bundle, 'utf8').includes('DurableObject')

/** The edge bundle in workerd. */
export const workerd: Runtime = {
  name: 'workerd',
  absence: hasState() ? '' : 'the edge bundle has no state, so it serves no users, catalog or machines',
  start: () => Promise.reject(new Error('not reached: it is absent')),
}
