import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { Log } from '#lib/platform/log.ts'
import type { Definition } from '../definition.ts'
import type { MachineView, RunOptions, Seen, SeenCause, Verb } from '../driver.ts'
import { tick } from '../uptime.ts'
import { type Accelerator, files, qemuArguments } from './arguments.ts'
import type { Notes } from './notes.ts'
import { adopt, ended, launch, type Live, livingPid, refusal } from './process.ts'
import type { QmpEvent } from './qmp.ts'
import { type ChangeState, recover } from './recovery.ts'
import { beginSave, finishSave, waitForLoad } from './saved-memory.ts'
import { crashed, shownState } from './status.ts'

export interface QemuMachine {
  view(): MachineView
  /** Finds out how the machine is after a time in which nobody looked: adopts its QEMU, or says how it ended. */
  recover(): Promise<void>
  run(verb: Verb, how: RunOptions): Promise<MachineView>
  /** Takes over a changed definition, which has been written down. */
  define(definition: Definition): MachineView
  /** Lets go of the machine; its QEMU lives on. */
  release(): void
}

interface Options {
  readonly definition: Definition
  readonly home: string
  readonly notes: Notes
  readonly program: string
  readonly accelerator: Accelerator
  readonly report: (what: Seen) => void
  readonly log: Log
}

/** Milliseconds between two presses of the power button: a guest that is still booting does not notice the first. */
const pressInterval = 2_000
/** Milliseconds that QEMU has to end after it was told to. */
const quitPatience = 2_000

/** One machine on QEMU: its process, its control connection, and its state. */
export const createQemuMachine = (options: Options): QemuMachine => {
  const { home, notes, program, accelerator, report, log } = options
  const { id } = options.definition
  let view: MachineView = {
    id,
    name: options.definition.name,
    state: 'stopped',
    definition: options.definition,
    home,
    addresses: [],
    since: Date.now(),
    ranFor: 0,
  }
  let live: Live | undefined
  let shutdown: { guest?: boolean; reason?: string } | undefined
  let busy = false

  const change: ChangeState = async (state, { booted = false, problem, cause } = {}) => {
    const { problem: _, stateFile: __, ...rest } = view
    view = {
      ...rest,
      ...tick(view, view.state, state, Date.now(), booted),
      state,
      ...(problem && { problem }),
      ...(state === 'suspended' && { stateFile: join(home, files.state) }),
    }
    const { since, ranFor } = view
    await notes.writeCondition({ state, since, ranFor, ...(problem && { problem }) })
    if (cause) report({ view, cause })
    return view
  }

  /** Takes in what QEMU says now. */
  const look = async (cause?: SeenCause): Promise<void> => {
    if (!live) return
    const { status } = (await live.qmp.execute('query-status')) as { status: string }
    const { state, problem } = shownState(status)
    if (state !== view.state || problem !== view.problem) await change(state, { problem, ...(cause && { cause }) })
  }

  const heard = ({ event, data }: QmpEvent): void => {
    if (event === 'SHUTDOWN') shutdown = data ?? {}
    if (busy || !['STOP', 'RESUME', 'BLOCK_IO_ERROR', 'GUEST_PANICKED'].includes(event)) return
    look('host').catch((error: unknown) => log.warning('{id}: {error}', { id, error: messageOf(error) }))
  }

  /** The control connection has ended and nobody waited for that: so has QEMU, or it is found again. */
  const lost = async (): Promise<void> => {
    await ended(live?.pid ?? 0, id, quitPatience)
    live = undefined
    if (shutdown) await change('stopped', { cause: shutdown.guest ? 'guest' : 'host' })
    else await change('stopped', { problem: crashed, cause: 'crash' })
  }

  const attach = (found: Live): Live => {
    live = found
    shutdown = undefined
    void found.qmp.closed.then(async () => {
      if (live !== found || busy) return
      await lost().catch((error: unknown) => log.error('{id}: {error}', { id, error: messageOf(error) }))
    })
    return found
  }

  const boot = async (deadline: AbortSignal, resume: boolean): Promise<Live> => {
    const args = qemuArguments(view.definition, accelerator, resume)
    return attach(await launch(program, args, home, heard, deadline))
  }

  /** The control connection of a machine that runs, made again where it was lost. */
  const control = async (): Promise<Live> => {
    if (live) return live
    const pid = await livingPid(home, id)
    try {
      if (pid === undefined) throw new Error('there is no process')
      return attach(await adopt(home, pid, heard))
    } catch (error) {
      throw new ServiceError(
        'unavailable',
        `The QEMU of ${view.name} does not answer: ${messageOf(error)}. Somebody else may hold its control socket; a forced stop ends it.`,
      )
    }
  }

  const quit = async (): Promise<void> => {
    const pid = live?.pid ?? (await livingPid(home, id))
    if (pid === undefined) return
    live?.qmp.execute('quit').catch(() => {})
    await ended(pid, id, live ? quitPatience : 0)
    live?.qmp.close()
    live = undefined
  }

  const pressPowerButton = async (deadline: AbortSignal): Promise<void> => {
    const { pid, qmp } = await control()
    const press = (): void => void qmp.execute('system_powerdown').catch(() => {})
    press()
    const timer = setInterval(press, pressInterval)
    const { promise: givenUp, reject } = Promise.withResolvers<never>()
    const giveUp = (): void => reject(deadline.reason)
    deadline.addEventListener('abort', giveUp)
    try {
      await Promise.race([qmp.closed, givenUp])
    } finally {
      clearInterval(timer)
      deadline.removeEventListener('abort', giveUp)
    }
    await ended(pid, id, quitPatience)
    live = undefined
  }

  const suspend = async (deadline: AbortSignal): Promise<MachineView> => {
    const { qmp } = await control()
    const wasRunning = view.state === 'running'
    await qmp.execute('stop')
    try {
      await beginSave(qmp)
      await finishSave(qmp, home, deadline)
    } catch (error) {
      if (wasRunning) await qmp.execute('cont')
      throw error
    }
    await quit()
    return change('suspended')
  }

  const wake = async (deadline: AbortSignal): Promise<MachineView> => {
    try {
      const { qmp } = await boot(deadline, true)
      await waitForLoad(qmp, deadline)
      await notes.writeStep({ verb: 'resume', from: 'suspended', continues: true })
      await qmp.execute('cont')
    } catch (error) {
      const gone = live && !(await livingPid(home, id))
      await quit()
      const reason = gone ? await refusal(home) : (error as Error)
      await change('suspended', { problem: `its saved memory could not be loaded: ${reason.message}` })
      throw new ServiceError(
        reason instanceof ServiceError ? reason.fault : 'upstream',
        `${view.name} stays suspended. ${reason.message} Try again, or drop its memory with a forced stop.`,
        { cause: error },
      )
    }
    await rm(join(home, files.state), { force: true })
    return change('running')
  }

  const verbs: Readonly<Record<Verb, (how: RunOptions) => Promise<MachineView>>> = {
    async start({ deadline }) {
      await boot(deadline, false)
      return change('running', { booted: true })
    },
    async stop({ force, deadline }) {
      if (!force) await pressPowerButton(deadline)
      else await quit()
      await rm(join(home, files.state), { force: true })
      return change('stopped')
    },
    async restart({ deadline }) {
      await pressPowerButton(deadline)
      await change('stopped')
      await boot(deadline, false)
      return change('running', { booted: true })
    },
    async reset() {
      await (await control()).qmp.execute('system_reset')
      return change(view.state, { booted: true })
    },
    async pause() {
      await (await control()).qmp.execute('stop')
      return change('paused')
    },
    async resume({ deadline }) {
      if (view.state === 'suspended') return wake(deadline)
      await (await control()).qmp.execute('cont')
      return change('running')
    },
    suspend: ({ deadline }) => suspend(deadline),
  }

  /** After an operation that failed: whatever it left, the view says how the machine is. */
  const settle = async (): Promise<void> => {
    const lives = (await livingPid(home, id)) !== undefined
    if (lives) await look()
    else if (live || view.state === 'running' || view.state === 'paused') await lost()
  }

  return {
    view: () => view,
    async recover() {
      const condition = await notes.condition()
      if (condition) {
        const { state, since, ranFor, problem } = condition
        const stateFile = state === 'suspended' && join(home, files.state)
        view = { ...view, state, since, ranFor, ...(problem && { problem }), ...(stateFile && { stateFile }) }
      }
      busy = true
      try {
        await recover({
          id,
          home,
          notes,
          view: () => view,
          change,
          look,
          quit,
          attach: async pid => attach(await adopt(home, pid, heard)),
        })
      } catch (error) {
        await change(view.state, { problem: `QEMU runs but does not answer: ${messageOf(error)}` })
      } finally {
        busy = false
      }
      await notes.writeStep(undefined)
    },
    async run(verb, how) {
      busy = true
      try {
        await notes.writeStep({ verb, from: view.state, continues: false })
        return await verbs[verb](how)
      } catch (error) {
        await settle()
        throw error
      } finally {
        await notes.writeStep(undefined)
        busy = false
      }
    },
    define(definition) {
      view = { ...view, definition, name: definition.name }
      return view
    },
    release() {
      const kept = live
      live = undefined
      kept?.qmp.close()
    },
  }
}
