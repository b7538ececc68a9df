import { Command } from 'commander'
import type { CommandContext } from './context.ts'

const help = `
The password or the API key comes from a prompt or from standard input. The token is kept in a file that only you can read. It expires;
an API key does not, unless it was made so. A certificate that no authority has signed is shown, and only this one is trusted from then
on. Without a terminal, --fingerprint must name it.`

interface Options {
  readonly user?: string
  readonly apiKey?: true
  readonly name?: string
  readonly fingerprint?: string
}

/** `vmhost login` */
export const createLoginCommand = (_context: CommandContext): Command =>
  new Command('login')
    .argument('<address>', 'address of the service, such as https://host:8443')
    .option('--user <name>', 'user name or e-mail address; without it, a terminal asks for it')
    .option('--api-key', 'use an API key in place of a user name and a password')
    .option('--name <context>', 'name of the context; default: the host of the address')
    .option('--fingerprint <sha256>', 'SHA-256 of the certificate that is trusted, as the service prints it')
    .addHelpText('after', help)
    .action(async (address: string, options: Options) => {
      const { signIn } = await import('../connect/sign-in.ts')
      const { name, context } = await signIn(address, options)
      console.log(`Signed in to ${context.url}${context.user === undefined ? '' : ` as ${context.user}`}.`)
      console.log(
        `Commands use this service from now on; \`vmhost context use local\` returns to that of this host (${name}).`,
      )
    })
