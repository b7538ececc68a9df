import type { ProgressReporter } from '#lib/async/progress.ts'

/** Passes on the progress of a part of some work, but not that of these steps, which another part reports. */
export const omitSteps = <Step extends string>(
  progress: ProgressReporter<Step>,
  omitted: readonly Step[],
): ProgressReporter => {
  const isKept = (step: string): step is Step => !omitted.some(name => name === step)
  return {
    ...progress,
    // The whole work has announced its steps already.
    plan: () => {},
    begin: step => isKept(step) && progress.begin(step),
    advance: (step, value, total) => isKept(step) && progress.advance(step, value, total),
    end: step => isKept(step) && progress.end(step),
    skip: (step, why) => isKept(step) && progress.skip(step, why),
    setMessage: (step, message) => isKept(step) && progress.setMessage(step, message),
  }
}
