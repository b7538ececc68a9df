import type { PlannedStep, ProgressReporter } from '#lib/async/progress.ts'
import type { JobStep } from './schemas.ts'

/** The steps of a job, which its work reports on. */
export interface Steps {
  readonly report: Pick<ProgressReporter, 'plan' | 'begin' | 'advance' | 'end' | 'skip' | 'setMessage'>
  list(): readonly JobStep[]
  /** The progress of the whole job, 0 to 100, not rounded. */
  progress(): number
  /** Marks the running steps as failed, or the next one when none is running. The steps after that are skipped. */
  fail(error: string): void
}

/** Formats seconds for people: `1m 30s`. */
const formatDuration = (time: number): string => {
  const seconds = Math.ceil(time)
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60]
  return [h > 0 && `${h}h`, (h > 0 || m > 0) && `${m}m`, `${s}s`].filter(Boolean).join(' ')
}

interface RunningStep {
  readonly at: number
  /** The value that the step started at. It is not 0 when the work is resumed. */
  readonly startValue: number
}

/** Creates the steps of a job. `onChange` gets `now` when a step begins or ends, and `soon` when one has made progress. */
export const createSteps = (onChange: (when: 'now' | 'soon') => void): Steps => {
  const steps = new Map<string, JobStep>()
  const running = new Map<string, RunningStep>()

  const getStep = (name: string): JobStep => {
    const step = steps.get(name)
    if (!step) throw new Error(`${name} is not a planned step`)
    return step
  }
  const createStep = ({ name, title, weight, unit }: PlannedStep): JobStep => ({
    name,
    display_name: title,
    weight,
    has_percentage: unit !== undefined,
    ...(unit && { unit }),
    state: 'pending',
    current_percentage: 0,
  })
  const measureRate = (name: string, value: number, total: number): Pick<JobStep, 'rate' | 'eta'> => {
    const begun = running.get(name) ?? { at: Date.now(), startValue: value }
    running.set(name, begun)
    const seconds = (Date.now() - begun.at) / 1000
    const rate = seconds > 0 ? (value - begun.startValue) / seconds : 0
    return rate > 0 ? { rate: Math.round(rate), eta: formatDuration((total - value) / rate) } : {}
  }

  return {
    report: {
      plan(all) {
        for (const step of all) steps.set(step.name, createStep(step))
      },
      begin(name) {
        // A step may begin again, for example when the pack that it reads was replaced. It starts at 0 then.
        const { message: _, value: __, total: ___, rate: ____, eta: _____, ...step } = getStep(name)
        running.delete(name)
        steps.set(name, { ...step, state: 'running', current_percentage: 0 })
        onChange('now')
      },
      advance(name, value, total) {
        const { rate: _rate, eta: _eta, ...step } = getStep(name)
        const part = total > 0 ? Math.min(value / total, 1) : 0
        const percentage = Math.round(part * 1000) / 10
        steps.set(name, { ...step, value, total, current_percentage: percentage, ...measureRate(name, value, total) })
        onChange('soon')
      },
      end(name) {
        const { eta: _, ...step } = getStep(name)
        steps.set(name, { ...step, state: 'completed', current_percentage: 100 })
        onChange('now')
      },
      skip(name, why) {
        // A skipped step counts as done in the progress of the job.
        steps.set(name, { ...getStep(name), state: 'skipped', current_percentage: 100, message: why })
        onChange('now')
      },
      setMessage(name, message) {
        steps.set(name, { ...getStep(name), message })
        onChange('soon')
      },
    },
    list: () => [...steps.values()],
    progress() {
      const all = [...steps.values()]
      const whole = all.reduce((sum, { weight }) => sum + weight, 0)
      const done = all.reduce((sum, { weight, current_percentage }) => sum + weight * current_percentage, 0)
      return whole > 0 ? done / whole : 0
    },
    fail(error) {
      const all = [...steps.values()]
      const running = all.filter(({ state }) => state === 'running')
      const pending = all.filter(({ state }) => state === 'pending')
      // Between two steps the next one is the one that failed.
      const failed = running.length > 0 ? running : pending.slice(0, 1)
      for (const step of failed) steps.set(step.name, { ...step, state: 'failed', error })
      for (const step of pending) if (!failed.includes(step)) steps.set(step.name, { ...step, state: 'skipped' })
    },
  }
}
