import type { PlannedStep, Work } from '#lib/work.ts'
import type { JobStep } from './schemas.ts'

/** The steps of a job as they are, kept by the work that reports on them. */
export interface Steps {
  readonly report: Pick<Work, 'plan' | 'begin' | 'advance' | 'end' | 'skip' | 'note'>
  show(): readonly JobStep[]
  /** Of the whole job, 0 to 100. */
  progress(): number
  /** Marks what was under way as failed, or what would have come next; what comes after that is skipped. */
  fail(error: string): void
}

/** `90s` as people say it: `1m 30s`. */
const duration = (time: number): string => {
  const seconds = Math.ceil(time)
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60]
  return [h > 0 && `${h}h`, (h > 0 || m > 0) && `${m}m`, `${s}s`].filter(Boolean).join(' ')
}

interface Running {
  readonly at: number
  /** What was done when the step began, for what is resumed. */
  readonly from: number
}

/** `changed` is told `now` when a step begins or ends, and `soon` when one has come further. */
export const createSteps = (changed: (when: 'now' | 'soon') => void): Steps => {
  const steps = new Map<string, JobStep>()
  const running = new Map<string, Running>()

  const stepOf = (name: string): JobStep => {
    const step = steps.get(name)
    if (!step) throw new Error(`${name} is not a planned step`)
    return step
  }
  const planned = ({ name, title, weight, unit }: PlannedStep): JobStep => ({
    name,
    display_name: title,
    weight,
    has_percentage: unit !== undefined,
    ...(unit && { unit }),
    state: 'pending',
    current_percentage: 0,
  })
  const pace = (name: string, value: number, total: number): Pick<JobStep, 'rate' | 'eta'> => {
    const begun = running.get(name) ?? { at: Date.now(), from: value }
    running.set(name, begun)
    const seconds = (Date.now() - begun.at) / 1000
    const rate = seconds > 0 ? (value - begun.from) / seconds : 0
    return rate > 0 ? { rate: Math.round(rate), eta: duration((total - value) / rate) } : {}
  }

  return {
    report: {
      plan(all) {
        for (const step of all) steps.set(step.name, planned(step))
      },
      begin(name) {
        // One that begins again, as when another pack has taken the place of its own, has done nothing yet.
        const { message: _, value: __, total: ___, rate: ____, eta: _____, ...step } = stepOf(name)
        running.delete(name)
        steps.set(name, { ...step, state: 'running', current_percentage: 0 })
        changed('now')
      },
      advance(name, value, total) {
        const { rate: _rate, eta: _eta, ...step } = stepOf(name)
        const part = total > 0 ? Math.min(value / total, 1) : 0
        const percentage = Math.round(part * 1000) / 10
        steps.set(name, { ...step, value, total, current_percentage: percentage, ...pace(name, value, total) })
        changed('soon')
      },
      end(name) {
        const { eta: _, ...step } = stepOf(name)
        steps.set(name, { ...step, state: 'completed', current_percentage: 100 })
        changed('now')
      },
      skip(name, why) {
        // Nothing of it is left to do, so it counts as done for how far the whole is.
        steps.set(name, { ...stepOf(name), state: 'skipped', current_percentage: 100, message: why })
        changed('now')
      },
      note(name, message) {
        steps.set(name, { ...stepOf(name), message })
        changed('soon')
      },
    },
    show: () => [...steps.values()],
    progress() {
      const all = [...steps.values()]
      const whole = all.reduce((sum, { weight }) => sum + weight, 0)
      const done = all.reduce((sum, { weight, current_percentage }) => sum + weight * current_percentage, 0)
      return whole > 0 ? Math.floor(done / whole) : 0
    },
    fail(error) {
      const all = [...steps.values()]
      const running = all.filter(({ state }) => state === 'running')
      const pending = all.filter(({ state }) => state === 'pending')
      // Between two steps it is the next one that could not begin.
      const failed = running.length > 0 ? running : pending.slice(0, 1)
      for (const step of failed) steps.set(step.name, { ...step, state: 'failed', error })
      for (const step of pending) if (!failed.includes(step)) steps.set(step.name, { ...step, state: 'skipped' })
    },
  }
}
