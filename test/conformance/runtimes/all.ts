import { executable } from './executable.ts'
import { node } from './node.ts'
import type { Runtime } from './runtime.ts'
import { workerd } from './workerd.ts'

/** Node first: the others are compared with its replies. */
export const runtimes: readonly Runtime[] = [node, executable, workerd]
