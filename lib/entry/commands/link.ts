import { Command } from 'commander'
import type { IssuedLink } from '#lib/auth/browser/schemas.ts'
import type { CommandContext } from './context.ts'

/** `vmhost link` */
export const createLinkCommand = ({ register }: CommandContext): Command => {
  const link = new Command('link')
  register(link, async (callApi, { config, isRunning }) => {
    const { fragment, expires_at: expiresAt } = await callApi<IssuedLink>('POST', '/auth/links')
    console.log(`${config.listen.origin}/${fragment}`)
    console.log(`The link works once, until ${expiresAt}. Who has it becomes root: give it to nobody.`)
    if (!isRunning) console.log('No service runs; start it with `vmhost serve`, then open the link.')
  })
  return link
}
