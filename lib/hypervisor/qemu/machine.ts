import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { Log } from '#lib/platform/log.ts'
import { exists } from '#lib/platform/files.ts'
import type { Definition } from '../definition.ts'
import type { MachineView, RunOptions, Seen, SeenCause, StableState, Verb } from '../driver.ts'
import { tick } from '../uptime.ts'
import { type Accelerator, files, qemuArguments } from './arguments.ts'
import type { Notes } from './notes.ts'
import { adopt, ended, launch, type Live, livingPid, refusal } from './process.ts'
import type { QmpEvent } from './qmp.ts'
import { beginSave, finishSave, keepSaved, waitForLoad } from './saved-memory.ts'

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

/** What a running QEMU says of its guest, as the state that the machine has for us. */
const shownState = (status: string): { state: StableState; problem?: string } => {
  switch (status) {
    case 'running':
      return { state: 'running' }
    case 'io-error':
      return { state: 'paused', problem: 'the disk of the host is full or failing; free space, then resume' }
    case 'guest-panicked':
      return { state: 'paused', problem: 'the guest panicked' }
    case 'internal-error':
      return { state: 'paused', problem: 'QEMU met an internal error' }
    default:
      return { state: 'paused' }
  }
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

  const change = async (
    state: StableState,
    { booted = false, problem, cause }: { booted?: boolean; problem?: string | undefined; cause?: SeenCause } = {},
  ): Promise<MachineView> => {
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

  const crashed = (): string => 'crashed: QEMU ended without being asked to'

  /** The control connection has ended and nobody waited for that: so has QEMU, or it is found again. */
  const lost = async (): Promise<void> => {
    await ended(live?.pid ?? 0, id, quitPatience)
    live = undefined
    if (shutdown) await change('stopped', { cause: shutdown.guest ? 'guest' : 'host' })
    else await change('stopped', { problem: crashed(), cause: 'crash' })
  }

  const attach = (found: Live): void => {
    live = found
    shutdown = undefined
    void found.qmp.closed.then(async () => {
      if (live !== found || busy) return
      await lost().catch((error: unknown) => log.error('{id}: {error}', { id, error: messageOf(error) }))
    })
  }

  const boot = async (deadline: AbortSignal, resume: boolean): Promise<Live> => {
    const args = qemuArguments(view.definition, accelerator, resume)
    const started = await launch(program, args, home, heard, deadline)
    attach(started)
    return started
  }

  /** The control connection of a machine that runs, made again where it was lost. */
  const control = async (): Promise<Live> => {
    if (live) return live
    const pid = await livingPid(home, id)
    try {
      if (pid === undefined) throw new Error('there is no process')
      attach(await adopt(home, pid, heard))
      return live!
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

  /** What is left of a machine whose QEMU is gone. */
  const bury = async (): Promise<void> => {
    const [condition, step] = [await notes.condition(), await notes.step()]
    for (const name of [files.pid, files.control, files.spareControl, files.serial, files.newState])
      await rm(join(home, name), { force: true })
    if (await exists(join(home, files.fullState))) await keepSaved(home)
    const saved = await exists(join(home, files.state))
    if (saved && !step?.continues) {
      if (view.state !== 'suspended') await change('suspended')
      return
    }
    await rm(join(home, files.state), { force: true })
    const ran = condition?.state === 'running' || condition?.state === 'paused'
    const asked = step?.verb === 'stop' || step?.verb === 'restart'
    if (ran || saved) await change('stopped', { problem: asked ? undefined : crashed() })
  }

  /** Ends what a dead service had begun with a QEMU that lives, then takes in how it is. */
  const adoptLiving = async (pid: number): Promise<void> => {
    attach(await adopt(home, pid, heard))
    const { qmp } = live!
    const step = await notes.step()
    if (step?.verb === 'suspend') {
      const kept = await exists(join(home, files.state))
      const saved =
        kept ||
        (await finishSave(qmp, home).then(
          () => true,
          () => false,
        ))
      if (saved) {
        await quit()
        await change('suspended')
        return
      }
      if (step.from === 'running') await qmp.execute('cont')
    } else if (await exists(join(home, files.state))) {
      await waitForLoad(qmp)
      await qmp.execute('cont')
      await rm(join(home, files.state))
    }
    await look()
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
        const pid = await livingPid(home, id)
        if (pid === undefined) await bury()
        else await adoptLiving(pid)
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
