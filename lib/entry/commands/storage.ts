import { resolve } from 'node:path'
import { Command } from 'commander'
import { ServiceError } from '#lib/errors.ts'
import { exists } from '#lib/platform/files.ts'
import { copyDatabase, readAndCleanUp, readDatabase } from '#lib/storage/database-file.ts'
import { getStoreFile } from '#lib/storage/open-store.ts'
import { listCopies } from '#lib/storage/copies/list.ts'
import { changeStoragePassword, restoreStore } from '#lib/storage/copies/restore.ts'
import { readPassword } from '../admin/read-password.ts'
import { describeChanges, formatCopies } from '../admin/store-copies.ts'
import { formatJson } from '../admin/text-table.ts'
import { createSealSecretsLoader, getBackupFolder } from '#lib/compose/state.ts'
import type { CommandContext } from './context.ts'

/** `vmhost storage …` */
export const createStorageCommand = ({ registerLocal: register }: CommandContext): Command => {
  const storage = new Command('storage')

  register(
    storage
      .command('backup')
      .description('Copy the store to a file, also while the service runs; the copy of an encrypted store is encrypted')
      .argument('<file>'),
    async ({ state }, [file = '']) => {
      const to = resolve(file)
      if (await exists(to)) throw new ServiceError('conflict', `${to} exists already; it is not overwritten.`)
      if (!(await exists(getStoreFile(state)))) throw new ServiceError('not-found', `There is no store in ${state}.`)
      await copyDatabase(getStoreFile(state), to)
      const { rows, wrappedKeys } = await readAndCleanUp(to, async () => readDatabase(to))
      console.log(`Copied ${rows.size} documents to ${to}${wrappedKeys.length > 0 ? ', encrypted' : ''}.`)
      console.log(`Keep ${state}/keys with it: the store is of no use without them.`)
    },
  )
  const list = storage
    .command('copies')
    .description('List the copies of the store: of upgrades, restores and backups')
    .option('--json', 'as JSON')
  register(list, async config => {
    const copies = listCopies(config.state, getBackupFolder(config))
    console.log(list.opts<{ readonly json?: true }>().json ? formatJson(copies) : formatCopies(copies))
  })
  const restore = storage
    .command('restore')
    .description('Replace the store with a copy, while the service is stopped; what is lost is shown')
    .argument('<file>', 'the copy, such as one of vmhost storage copies')
    .option('--dry-run', 'show what would be lost, and change nothing; the service may run')
  register(restore, async (config, [file = '']) => {
    const copy = resolve(file)
    const secrets = await createSealSecretsLoader(config)?.()
    const changes = await describeChanges(config.state, copy, secrets)
    if (restore.opts<{ readonly dryRun?: true }>().dryRun) return console.log(changes)
    const { sealed, replacedCopy } = await restoreStore(config.state, copy, secrets)
    console.log(`Restored ${file}, which is ${sealed ? '' : 'not '}encrypted.`)
    if (replacedCopy !== undefined) console.log(`The replaced store is in ${replacedCopy}.`)
    console.log(changes)
  })
  register(
    storage
      .command('rekey')
      .description(
        'Change the password of the encrypted store, while the service is stopped. VMHOST_STORAGE_PASSWORD has the present password; a prompt or standard input gives the new one',
      ),
    async config => {
      const secrets = await createSealSecretsLoader(config)?.()
      if (!secrets)
        throw new ServiceError('invalid', 'Set VMHOST_STORAGE_PASSWORD to the present password of the store.')
      const next = await readPassword('the new password of the store')
      if (next.length < 12) throw new ServiceError('invalid', 'The new password must have at least 12 characters.')
      await changeStoragePassword(config.state, secrets, next)
      console.log('The store has a new password: start the service with it in VMHOST_STORAGE_PASSWORD.')
      console.log('Earlier copies and backups still need the old password.')
    },
  )
  return storage
}
