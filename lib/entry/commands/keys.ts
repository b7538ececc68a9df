import { Command } from 'commander'
import { keys as group } from '#lib/commands/identity.ts'
import { createGroupCommand } from '../definitions/create-commands.ts'
import type { CommandContext } from './context.ts'

/** `vmhost keys …` */
export const createKeysCommand = (context: CommandContext): Command => {
  const register = context.createRegister('identity')
  const keys = new Command('keys')
  register(
    keys.command('rotate').description('Sign tokens with a new key; existing tokens stay valid until they expire'),
    async ({ client }) => {
      const { kid } = await client.api.auth.rotateKey()
      console.log(`The service now signs tokens with the key ${kid}.`)
      console.log('Only the old key opens earlier backups of an encrypted store; it is in keys/retired.')
    },
  )
  return createGroupCommand(group, context, keys)
}
