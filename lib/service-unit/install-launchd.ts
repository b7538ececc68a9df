import { rm } from 'node:fs/promises'
import { ServiceError } from '#lib/errors.ts'
import { exists, writeFileAtomic } from '#lib/platform/files.ts'
import { type Host, runOrThrow } from './host.ts'
import { formatPlist, launchdLabel } from './launchd-plist.ts'
import type { UnitOptions } from './systemd-unit.ts'

/** The file of the property list, and the log that launchd writes. */
export const plistFile = '/Library/LaunchDaemons/vmhost.plist'
const logFile = '/Library/Logs/vmhost.log'

/** Installs the service as a daemon of launchd and starts it; again to replace it. */
export const installPlist = async (host: Host, options: Omit<UnitOptions, 'hasKvmGroup'>): Promise<void> => {
  const file = host.root + plistFile
  if (await exists(file)) await host.run('launchctl', 'bootout', `system/${launchdLabel}`)
  await writeFileAtomic(file, formatPlist(options, logFile), 0o644)
  await runOrThrow(host, 'launchctl', 'bootstrap', 'system', plistFile)
}

/** Stops the service and removes its property list. Throws `not-found` if there is none. */
export const uninstallPlist = async (host: Host): Promise<void> => {
  const file = host.root + plistFile
  if (!(await exists(file))) throw new ServiceError('not-found', `There is no ${file}, so nothing was removed.`)
  await host.run('launchctl', 'bootout', `system/${launchdLabel}`)
  await rm(file)
}
