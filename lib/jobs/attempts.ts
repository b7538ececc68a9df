import type { StoredJob } from './schemas.ts'

/** How often in a row a job is resumed without making progress. */
export const maxAttempts = 3

/** The title of the step that a job was last running. */
const findLastStep = ({ steps = [] }: StoredJob): string =>
  steps.find(({ state }) => state === 'running')?.display_name ?? 'its beginning'

/** The message of a job that was resumed in vain. */
export const formatNoProgress = (job: StoredJob): string =>
  `The service resumed this job ${maxAttempts} times after it had ended, and the job came no further than: ${findLastStep(job)}. The service does not try again. Find what blocks the job there, then start it again.`

type CountedJob = StoredJob & { readonly tries: NonNullable<StoredJob['tries']> }

/** Counts one more attempt of a job that is resumed. The count starts again when the last attempt made progress. */
export const countAttempt = ({ tries, reached = 0, ...job }: StoredJob): CountedJob => {
  const count = tries !== undefined && reached <= tries.from ? tries.count + 1 : 1
  return { ...job, reached, tries: { count, from: reached } }
}
