import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { renameSynced, syncFile } from '#lib/platform/files.ts'
import type { Log } from '#lib/platform/log.ts'
import type { StartWorker } from '#lib/platform/workers.ts'
import type { Definition } from '../definition.ts'
import type { MachineView, RunOptions, Seen, StableState, Verb } from '../driver.ts'
import type { MachineFolders } from '../machine-folders.ts'
import { tick } from '../uptime.ts'
import type { DiskClaims } from './disk-claims.ts'
import { diskOf, launch } from './launch.ts'
import { keepRunNote, type RunNote } from './run-note.ts'
import type { Ending, Session } from './session.ts'
import { within } from './within.ts'

/** The byte that asks a guest to shut down: v86 has no power button. */
const shutDownRequest = 's'
/** The saved state of a suspended machine, in its folder. */
export const stateFileName = 'state.bin'

interface Parts {
  readonly view: MachineView
  readonly folders: MachineFolders
  readonly startWorker: StartWorker
  readonly claims: DiskClaims
  readonly log: Log
  readonly report: (what: Seen) => void
}

/** A machine that can be read. Calls on it come one at a time. */
export interface Machine {
  view(): MachineView
  run(verb: Verb, how: RunOptions): Promise<MachineView>
  /** Takes on a changed definition. */
  redefine(definition: Definition): MachineView
  /** Goes on from the saved state, running or paused. Throws `conflict` when the state is of no use, which is then the problem. */
  restore(to: 'running' | 'paused', deadline: AbortSignal): Promise<MachineView>
  /** Saves the machine, which the next start of the service brings back into its present state. */
  putAside(deadline: AbortSignal): Promise<void>
  type(text: string): void
  /** Ends what runs of it, as a power cut does. */
  cut(): Promise<void>
}

export const createMachine = ({ view: first, folders, startWorker, claims, log, report }: Parts): Machine => {
  let view = first
  let session: Session | undefined
  /** The run whose end an operation is waiting for, which then deals with it. */
  let awaited: Session | undefined
  let settling: Promise<void> | undefined
  const { id, home } = first
  const stateFile = join(home, stateFileName)

  const viewIn = (state: StableState, { booted = false, problem }: { booted?: boolean; problem?: string } = {}) => {
    const { problem: _problem, stateFile: _stateFile, ...kept } = view
    const clock = tick(view, view.state, state, Date.now(), booted)
    const extra = { ...(problem !== undefined && { problem }), ...(state === 'suspended' && { stateFile }) }
    return { ...kept, ...clock, ...extra, state } satisfies MachineView
  }
  const failed = (what: string) => (error: unknown) =>
    log.error('Machine {name}: {what}: {error}', { name: view.name, what, error: messageOf(error) })
  /** Notes a state that has come about already, so a note that cannot be kept is no reason to refuse. */
  const accept = async (next: MachineView): Promise<void> => {
    await keepRunNote(folders, next).catch(failed('its state could not be noted'))
    view = next
  }
  const running = (): Session => {
    if (!session) throw new ServiceError('conflict', `${view.name} has stopped before that was done.`)
    return session
  }

  /** Ends the session, whatever it does; what its guest wrote to the disk is durable afterwards. */
  const detach = async (): Promise<void> => {
    const current = session
    session = undefined
    await current?.end()
    const disk = diskOf(view)
    if (current && disk !== undefined) await syncFile(disk).catch(failed('its disk could not be made durable'))
  }
  const stopped = async (problem?: string): Promise<void> => {
    await detach()
    claims.release(id)
    await accept(viewIn('stopped', problem === undefined ? {} : { problem }))
  }
  const over = async ({ problem }: Ending): Promise<void> => {
    await stopped(problem)
    report({ view, cause: problem === undefined ? 'guest' : 'crash' })
  }
  const watch = async (started: Session): Promise<void> => {
    const ending = await started.ended
    if (session === started && awaited !== started) await (settling = over(ending))
  }
  const attach = (started: Session): void => {
    session = started
    void watch(started)
  }

  const boot = async (to: 'running' | 'paused', deadline: AbortSignal): Promise<void> => {
    let started: Session | undefined
    try {
      started = await launch(view, { startWorker, claims, deadline })
      const next = viewIn(to, { booted: true })
      // Noted before the guest runs: after a crash it is never taken for one that was stopped.
      await keepRunNote(folders, next)
      if (to === 'running') await started.run(deadline)
      view = next
    } catch (error) {
      await started?.end()
      claims.release(id)
      await accept(view)
      throw error
    }
    attach(started)
  }
  const restore = async (to: 'running' | 'paused', deadline: AbortSignal): Promise<void> => {
    let started: Session | undefined
    try {
      started = await launch(view, { startWorker, claims, deadline, state: stateFile })
      if (to === 'running') await started.run(deadline)
      const next = viewIn(to)
      await keepRunNote(folders, next)
      view = next
    } catch (error) {
      await started?.end()
      // Until the note says that it runs, the state is good for another try: it knows the disk that it goes with.
      await accept({ ...view, ...(!deadline.aborted && { problem: messageOf(error) }) })
      throw error
    }
    attach(started)
    await rm(stateFile, { force: true })
  }
  const suspend = async (deadline: AbortSignal, resume?: RunNote['resume']): Promise<void> => {
    const current = running()
    const temporary = `${stateFile}.tmp`
    const next = viewIn('suspended')
    try {
      await current.save(temporary, deadline)
      // The note first: a state beside a note that says running is one that was used up.
      await keepRunNote(folders, next, resume)
      await renameSynced(temporary, stateFile)
    } catch (error) {
      await goOn(current)
      throw error
    }
    await detach()
    view = next
  }
  /** Brings a machine that could not be paused or saved back to what it was. */
  const goOn = async (current: Session): Promise<void> => {
    if (session !== current) return
    await accept(view)
    // Not waited for: a guest that keeps its thread busy answers late, and then it runs.
    if (view.state === 'running') current.run(new AbortController().signal).catch(() => {})
  }
  const pause = async (deadline: AbortSignal): Promise<void> => {
    const current = running()
    const next = viewIn('paused')
    try {
      await current.pause(deadline)
      await keepRunNote(folders, next)
    } catch (error) {
      await goOn(current)
      throw error
    }
    view = next
  }
  const unpause = async (deadline: AbortSignal): Promise<void> => {
    await running().run(deadline)
    await accept(viewIn('running'))
  }
  const shutDown = async (deadline: AbortSignal): Promise<void> => {
    const current = running()
    awaited = current
    let ending: Ending
    try {
      current.type(shutDownRequest)
      ending = await within(deadline, current.ended)
    } finally {
      awaited = undefined
    }
    await stopped(ending.problem)
  }
  const stop = async ({ force, deadline }: RunOptions): Promise<void> => {
    if (!force) return shutDown(deadline)
    await stopped()
    await rm(stateFile, { force: true })
  }
  const resume = (deadline: AbortSignal): Promise<void> =>
    view.state === 'suspended' ? restore('running', deadline) : unpause(deadline)

  const perform = async (verb: Verb, how: RunOptions): Promise<void> => {
    const { deadline } = how
    switch (verb) {
      case 'start':
        return view.state === 'stopped' ? boot('running', deadline) : resume(deadline)
      case 'stop':
        return stop(how)
      case 'restart':
        await shutDown(deadline)
        return boot('running', deadline)
      case 'reset': {
        const to = view.state === 'paused' ? 'paused' : 'running'
        await stopped()
        return boot(to, deadline)
      }
      case 'pause':
        return pause(deadline)
      case 'suspend':
        return suspend(deadline)
      case 'resume':
        return resume(deadline)
    }
  }

  return {
    view: () => view,
    async run(verb, how) {
      await settling
      await perform(verb, how)
      return view
    },
    redefine(definition) {
      view = { ...view, definition, name: definition.name }
      return view
    },
    async restore(to, deadline) {
      await restore(to, deadline)
      return view
    },
    async putAside(deadline) {
      await settling
      if (view.state === 'running' || view.state === 'paused') await suspend(deadline, view.state)
    },
    type: text => running().type(text),
    cut: detach,
  }
}
