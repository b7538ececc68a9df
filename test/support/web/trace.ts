import type { Browser, Page } from 'playwright-core'

// The members of Chromium's trace events that are read here. `tdur` is microseconds of processor time.
interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  readonly tdur?: number
  readonly args: { readonly name?: string }
}

const categories = ['disabled-by-default-devtools.timeline', 'devtools.timeline', 'toplevel']

/** The milliseconds of processor time that the main thread of a page spends in its tasks while something is done. */
export const measureTasks = async (browser: Browser, page: Page, work: () => Promise<void>): Promise<number> => {
  await browser.startTracing(page, { categories })
  await work()
  // Chromium's format.
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { readonly traceEvents: readonly TraceEvent[] }
  const isMain = new Set(
    trace.traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  )
  const tasks = trace.traceEvents.filter(
    ({ name, pid, tid, tdur }) => name === 'RunTask' && tdur !== undefined && isMain.has(`${pid} ${tid}`),
  )
  if (tasks.length === 0) throw new Error('the trace has no tasks of a page')
  return tasks.reduce((total, { tdur = 0 }) => total + tdur, 0) / 1000
}
