import { ServiceError } from '#lib/errors.ts'
import type { Definition } from '../../definition.ts'
import type { MachineView } from '../../driver.ts'
import { isModern, nameParts } from '../../parts.ts'
import type { Attachments } from '../attached-files.ts'
import type { Images } from '../images.ts'
import type { HostNetwork } from '../network/host-network.ts'
import type { RunningMachine } from './step.ts'

/** A change of a machine: its present view, and the definition that it is to have. */
export interface Change {
  readonly view: MachineView
  readonly next: Definition
  readonly images: Images
  readonly attachments: Attachments
  readonly network: HostNetwork
  /** Returns the running QEMU when a step is applied. */
  readonly running: () => RunningMachine
}

/** True if QEMU has to change while its guest runs. */
export const isRunning = ({ view }: Pick<Change, 'view'>): boolean => view.state === 'running'

/** Throws `conflict` for a change that a running machine cannot take. */
export const refuseWhileRunning = (what: string, why = ''): never => {
  throw new ServiceError('conflict', `${what} cannot be changed while the machine runs${why}; stop it first.`)
}

/** Throws `conflict` if the machine is of a type that takes no parts while it runs. */
export const assertTakesParts = ({ view: { definition } }: Change, what: string): void => {
  if (!isModern(definition)) refuseWhileRunning(what, `, for its type is ${definition.machine_type ?? 'pc'}`)
}

/** A part that has come, gone or changed. */
export type PartChange<Part> = { readonly name: string } & (
  | { readonly before?: undefined; readonly after: Part }
  | { readonly before: Part; readonly after?: undefined }
  | { readonly before: Part; readonly after: Part }
)

/** Compares the parts of two definitions by their names. Returns those that differ. */
export const compareParts = <Part>(
  before: readonly Part[],
  after: readonly Part[],
  getName: (part: Part, at: number) => string,
): readonly PartChange<Part>[] => {
  const toMap = (parts: readonly Part[]) => new Map(parts.map((part, at) => [getName(part, at), part]))
  const [old, present] = [toMap(before), toMap(after)]
  const names = [...new Set([...old.keys(), ...present.keys()])]
  return names.flatMap((name): PartChange<Part>[] => {
    const [was, is] = [old.get(name), present.get(name)]
    if (!was) return is ? [{ name, after: is }] : []
    if (!is) return [{ name, before: was }]
    if (JSON.stringify({ ...was, name }) === JSON.stringify({ ...is, name })) return []
    return [{ name, before: was, after: is }]
  })
}

/** Returns what a step has changed: the part of this name is as given, or gone. */
export const recordPart =
  <List extends 'disks' | 'networks' | 'cdroms'>(
    list: List,
    name: string,
    part: NonNullable<Definition[List]>[number] | undefined,
  ) =>
  (definition: Definition): Definition => ({
    ...definition,
    [list]: [
      ...(nameParts(definition)[list] ?? []).filter(one => one.name !== name),
      ...(part ? [{ ...part, name }] : []),
    ],
  })
