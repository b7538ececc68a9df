import { resolve } from 'node:path'
import { Command } from 'commander'
import { version } from '#lib/compose/version.ts'
import { readSurroundings } from '#lib/doctor/surroundings.ts'
import { ServiceError } from '#lib/errors.ts'
import { exists, writeFileAtomic } from '#lib/platform/files.ts'
import { createReport } from '#lib/report/report.ts'
import type { CommandContext } from './context.ts'

/** `vmhost report` */
export const createReportCommand = ({ registerLocal: register }: CommandContext): Command => {
  const command = new Command('report')
    .argument('[file]', 'archive to write; it must not exist', 'vmhost-report.tar.gz')
    .option('--log-file <file>', "file with the service's log; without it, the log is in the journal of systemd")
  register(command, async (config, [file = 'vmhost-report.tar.gz']) => {
    const path = resolve(file)
    if (await exists(path)) throw new ServiceError('conflict', `${path} exists already; it is not overwritten.`)
    const { archive, names } = await createReport({
      version,
      settings: { ...config, listen: config.listen.href },
      surroundings: await readSurroundings(config),
      logFile: command.opts<{ readonly logFile?: string }>().logFile,
    })
    await writeFileAtomic(path, archive)
    console.log(`Wrote ${path} with ${names.join(', ')}.`)
    console.log('Secrets are removed. Names of machines, users and paths are in it: look at it before you send it.')
  })
  return command
}
