import { resolve } from 'node:path'
import { Command } from 'commander'
import type { Config } from '#lib/config.ts'
import { ServiceError } from '#lib/errors.ts'
import { exists } from '#lib/platform/files.ts'
import { copyDatabase, readDatabase } from '#lib/storage/database-file.ts'
import { storeFile } from '#lib/storage/open-store.ts'
import { changeStoragePassword, restoreStore } from '#lib/storage/restore.ts'
import { readPassword } from '../read-password.ts'
import { sealSecretsOf } from '../state.ts'

/** Makes a command one that works on the files of the state folder. */
export type OnFiles = (command: Command, work: (config: Config, args: readonly string[]) => Promise<void>) => void

/** `vmhost storage …` */
export const storageCommand = (onFiles: OnFiles): Command => {
  const storage = new Command('storage').description('The store: its backups and its encryption')

  onFiles(
    storage
      .command('backup')
      .description('Copy the store into a file, also while the service runs; an encrypted one stays encrypted')
      .argument('<file>'),
    async ({ state }, [file = '']) => {
      const to = resolve(file)
      if (await exists(to)) throw new ServiceError('conflict', `${to} exists already; it is not overwritten.`)
      await copyDatabase(storeFile(state), to)
      const { rows, wraps } = readDatabase(to)
      console.log(`Copied ${rows.size} documents to ${to}${wraps.length > 0 ? ', encrypted' : ''}.`)
      console.log(`Keep ${state}/keys with it: the store is of no use without them.`)
    },
  )
  onFiles(
    storage
      .command('restore')
      .description('Put a copy in place of the store, while the service is stopped')
      .argument('<file>'),
    async (config, [file = '']) => {
      const kept = await restoreStore(config.state, resolve(file), await sealSecretsOf(config)?.())
      console.log(`Restored ${file}.${kept ? ` What it replaced is in ${kept}.` : ''}`)
    },
  )
  onFiles(
    storage
      .command('rekey')
      .description(
        'Encrypt the store anew for another password, from a prompt or standard input, while the service is stopped; VMHOST_STORAGE_PASSWORD is the present one',
      ),
    async config => {
      const secrets = await sealSecretsOf(config)?.()
      if (!secrets)
        throw new ServiceError('invalid', 'Set VMHOST_STORAGE_PASSWORD to the present password of the store.')
      const next = await readPassword('the new password of the store')
      if (next.length < 12) throw new ServiceError('invalid', 'The new password must have at least 12 characters.')
      await changeStoragePassword(config.state, secrets, next)
      console.log('The store has a new password: start the service with it in VMHOST_STORAGE_PASSWORD.')
      console.log('Copies and backups from before are still opened by the old one.')
    },
  )
  return storage
}
