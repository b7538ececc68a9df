import { stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { isSystemError } from '#lib/platform/files.ts'
import { runProcess } from '#lib/platform/processes.ts'
import { askService, type ServiceState } from './ask-service.ts'
import { findPackageManager, type InstallPackage } from './package-manager.ts'
import { type MachineNeeds, readMachineNeeds } from './machine-needs.ts'

/** The settings of the service that the checks depend on. */
export interface CheckedSettings {
  readonly state: string
  readonly listen: URL
  readonly driver: 'auto' | 'qemu' | 'embedded'
  readonly qemu_user?: string | undefined
  readonly tls_certificate?: string | undefined
  readonly tls_key?: string | undefined
  readonly backup_folder?: string | undefined
  readonly cache_folder?: string | undefined
}

/** The account that the service runs as. */
export interface ServiceAccount {
  readonly user: string
  readonly uid: number
  /** The ids of all its groups. */
  readonly groups: readonly number[]
}

/** What all checks know. */
export interface Surroundings {
  readonly settings: CheckedSettings
  readonly account: ServiceAccount
  readonly service: ServiceState
  readonly needs: MachineNeeds
  /** Returns the command that installs a package on this host. */
  readonly installPackage: InstallPackage
}

const runId = async (...args: readonly string[]): Promise<string> => {
  const { code, stdout } = await runProcess('id', args, { timeout: 5_000 })
  return code === 0 ? stdout.trim() : ''
}

/** Finds the account of the service: the owner of its state folder. Before the first start, the user who asks. */
const findServiceAccount = async (state: string): Promise<ServiceAccount> => {
  const owner = await stat(state).catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT') || isSystemError(error, 'EACCES')) return undefined
    throw error
  })
  const { uid, username } = userInfo()
  if (owner === undefined || owner.uid === uid) return { user: username, uid, groups: process.getgroups?.() ?? [] }
  const user = (await runId('-un', String(owner.uid))) || String(owner.uid)
  return { user, uid: owner.uid, groups: (await runId('-G', user)).split(/\s+/).filter(Boolean).map(Number) }
}

/** Finds out what the checks need to know. */
export const readSurroundings = async (settings: CheckedSettings): Promise<Surroundings> => ({
  settings,
  account: await findServiceAccount(settings.state),
  service: await askService(settings.state),
  needs: await readMachineNeeds(settings.state),
  installPackage: await findPackageManager(),
})
