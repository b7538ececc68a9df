import { rounds } from '../../support/rounds.ts'
import type { Area } from '../case.ts'
import { executable } from './executable.ts'
import { node } from './node.ts'
import type { Runtime } from './runtime.ts'
import { workerd } from './workerd.ts'

/** Node first: the others are compared with its replies. */
export const runtimes: readonly Runtime[] = [node, executable, workerd]

/** The areas that every run tries with the executable too. It has the code of the bundle, so `npm run full` tries the others. */
const onExecutable = new Set(['machines and jobs', 'the service itself'])

/** The runtimes that the cases of an area run on. */
export const listRuntimes = ({ name }: Area): readonly Runtime[] =>
  rounds(onExecutable.has(name), true) ? runtimes : runtimes.filter(one => one !== executable)
