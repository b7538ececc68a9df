import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { exists } from '#lib/platform/files.ts'
import type { MachineView, SeenCause, StableState } from '../driver.ts'
import { files } from './arguments.ts'
import type { Notes } from './notes.ts'
import { type Live, livingPid } from './process.ts'
import { finishSave, keepSaved, waitForLoad } from './saved-memory.ts'
import { crashed } from './status.ts'

/** Takes the machine to another state and writes that down. */
export type ChangeState = (
  state: StableState,
  how?: { booted?: boolean; problem?: string | undefined; cause?: SeenCause },
) => Promise<MachineView>

/** What recovery needs of a machine. */
interface Recoverable {
  readonly id: string
  readonly home: string
  readonly notes: Notes
  view(): MachineView
  readonly change: ChangeState
  /** Takes in what QEMU says now. */
  look(): Promise<void>
  quit(): Promise<void>
  /** Connects to a QEMU that lives. */
  attach(pid: number): Promise<Live>
}

/** What is left of a machine whose QEMU is gone: its memory on disk, or a crash, or nothing unusual. */
const bury = async ({ home, notes, view, change }: Recoverable): Promise<void> => {
  const [condition, step] = [await notes.condition(), await notes.step()]
  for (const name of [files.pid, files.control, files.spareControl, files.serial, files.newState])
    await rm(join(home, name), { force: true })
  if (await exists(join(home, files.fullState))) await keepSaved(home)
  const saved = await exists(join(home, files.state))
  // With the last step written down its guest may have gone on, and its disk with it: the memory is of no use then.
  if (saved && !step?.continues) {
    if (view().state !== 'suspended') await change('suspended')
    return
  }
  await rm(join(home, files.state), { force: true })
  const ran = condition?.state === 'running' || condition?.state === 'paused'
  const asked = step?.verb === 'stop' || step?.verb === 'restart'
  if (ran || saved) await change('stopped', { problem: asked ? undefined : crashed })
}

/** Whether the memory of the machine is on disk, or can be brought there now. */
const isSaved = async ({ home }: Recoverable, { qmp }: Live): Promise<boolean> =>
  (await exists(join(home, files.state))) ||
  finishSave(qmp, home).then(
    () => true,
    () => false,
  )

/** Ends what a dead service had begun with a QEMU that lives, then takes in how it is. */
const takeOver = async (machine: Recoverable, pid: number): Promise<void> => {
  const { home, notes, change, quit, look } = machine
  const live = await machine.attach(pid)
  const step = await notes.step()
  if (step?.verb === 'suspend') {
    if (await isSaved(machine, live)) {
      await quit()
      await change('suspended')
      return
    }
    if (step.from === 'running') await live.qmp.execute('cont')
  } else if (await exists(join(home, files.state))) {
    await waitForLoad(live.qmp)
    await live.qmp.execute('cont')
    await rm(join(home, files.state))
  }
  await look()
}

/** Finds out how a machine is after a time in which nobody looked, and finishes or rolls back what was under way. */
export const recover = async (machine: Recoverable): Promise<void> => {
  const pid = await livingPid(machine.home, machine.id)
  if (pid === undefined) await bury(machine)
  else await takeOver(machine, pid)
}
