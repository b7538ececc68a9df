import type { CommandGroup } from './definition.ts'

/** The commands of `vmhost jobs` that read no steps. */
export const jobs: CommandGroup = {
  name: 'jobs',
  commands: [
    {
      name: 'delete',
      alias: 'rm',
      operation: 'jobs.delete',
      summary: 'Delete the record of a job that has ended',
      inputs: [{ flag: '<job>', to: 'params.id', about: 'id of the job' }],
    },
    {
      name: 'clean-up',
      operation: 'jobs.cleanUp',
      summary: 'Delete the records of all jobs that have ended',
    },
  ],
}
