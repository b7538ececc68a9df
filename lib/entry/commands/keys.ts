import { Command } from 'commander'
import type { Run } from './run.ts'

/** `vmhost keys …` */
export const keysCommand = (run: Run): Command => {
  const keys = new Command('keys').description('The keys that sign tokens')
  run(
    keys.command('rotate').description('Sign tokens with a new key; existing tokens stay valid until they expire'),
    async ask => {
      const { kid } = await ask<{ kid: string }>('POST', '/auth/key/rotate')
      console.log(`The service now signs tokens with the key ${kid}.`)
      console.log('Only the old key opens earlier backups of an encrypted store; it is in keys/retired.')
    },
  )
  return keys
}
