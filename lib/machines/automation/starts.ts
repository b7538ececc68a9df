import { setTimeout as wait } from 'node:timers/promises'
import type { MachineView } from '#lib/hypervisor/driver.ts'

/** Starts machines that should run: at the start of the service, and after a crash of their hypervisor process. */
export interface Starts extends Disposable {
  /**
   * Starts the machines with autostart one after the other, by their order, and those that crashed while the service was down.
   * Settles when all were tried.
   */
  startAll(): Promise<void>
  /** Starts a machine again that has crashed, if its definition says so. */
  onCrash(view: MachineView): void
}

interface Options {
  readonly listViews: () => readonly MachineView[]
  readonly start: (id: string) => Promise<unknown>
  /** Called when a machine cannot be started, or has crashed too often. */
  readonly onFailed: (view: MachineView, error: unknown) => void
}

/** Milliseconds before each restart of a machine that crashes again and again; after the last one it stays stopped. */
const restartDelays = [0, 1_000, 5_000, 15_000, 60_000]
/** Milliseconds after which a crash no longer counts. */
const memory = 10 * 60_000

/** Whether a machine that is found when the service starts should run. */
const shouldRun = ({ state, problem, definition: { autostart, restart } }: MachineView): boolean =>
  state === 'stopped' &&
  (autostart?.enabled === true || (restart === 'on-crash' && problem?.startsWith('crashed') === true))

const compareStarts = (a: MachineView, b: MachineView): number =>
  (a.definition.autostart?.order ?? 0) - (b.definition.autostart?.order ?? 0) || a.name.localeCompare(b.name)

export const createStarts = ({ listViews, start, onFailed }: Options): Starts => {
  const closed = new AbortController()
  const crashes = new Map<string, readonly number[]>()

  const startAfter = async (view: MachineView, milliseconds: number): Promise<void> => {
    try {
      if (milliseconds > 0) await wait(milliseconds, undefined, { signal: closed.signal, ref: false })
      const current = listViews().find(({ id }) => id === view.id)
      if (current?.state === 'stopped' && !closed.signal.aborted) await start(view.id)
    } catch (error) {
      if (!closed.signal.aborted) onFailed(view, error)
    }
  }

  return {
    async startAll() {
      const machines = listViews().filter(shouldRun)
      for (const view of machines.toSorted(compareStarts))
        await startAfter(view, (view.definition.autostart?.delay ?? 0) * 1000)
    },
    onCrash(view) {
      if (view.definition.restart !== 'on-crash' || view.state !== 'stopped') return
      const recent = (crashes.get(view.id) ?? []).filter(time => time > Date.now() - memory)
      crashes.set(view.id, [...recent, Date.now()])
      const delay = restartDelays[recent.length]
      if (delay === undefined)
        onFailed(view, new Error(`it has crashed ${recent.length + 1} times in 10 minutes; start it by hand`))
      else void startAfter(view, delay)
    },
    [Symbol.dispose]: () => closed.abort(),
  }
}
