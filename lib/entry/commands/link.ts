import { Command } from 'commander'
import { getPublicUrl } from '#lib/compose/config.ts'
import type { CommandContext } from './context.ts'

/** `vmhost link` */
export const createLinkCommand = ({ createRegister }: CommandContext): Command => {
  const link = new Command('link')
  createRegister('identity')(link, async ({ client, config, isRunning, target }) => {
    const { fragment, expires_at: expiresAt } = await client.api.auth.createLink()
    console.log(`${config ? getPublicUrl(config) : target.url}/${fragment}`)
    console.log(`The link works once, until ${expiresAt}. Who has it becomes root: give it to nobody.`)
    if (!isRunning) console.log('No service runs; start it with `vmhost serve`, then open the link.')
  })
  return link
}
