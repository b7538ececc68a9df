import { Command } from 'commander'
import { fitTable } from '../admin/fit-table.ts'
import { formatJson, formatTime } from '../admin/text-table.ts'
import { getFingerprint } from '../connect/certificate.ts'
import {
  type Context,
  type Contexts,
  getContext,
  localName,
  readContexts,
  removeContext,
  writeContexts,
} from '../connect/contexts.ts'

/** What is shown of a context, which is no secret. */
const describeContext = (name: string, { url, user, api_key, expires_at, certificate }: Context, current: string) => ({
  name,
  current: name === current,
  url,
  as: user ?? (api_key === undefined ? '' : 'an API key'),
  expires_at: expires_at ?? '',
  certificate: certificate === undefined ? '' : getFingerprint(certificate),
})

const describeContexts = ({ current = localName, contexts }: Contexts) => [
  describeContext(localName, { url: 'the service of this host', user: 'root' }, current),
  ...Object.entries(contexts).map(([name, context]) => describeContext(name, context, current)),
]

/** `vmhost context …` */
export const createContextsCommand = (): Command => {
  const command = new Command('context')
  command
    .command('list')
    .alias('ls')
    .description('List the services that you have signed in to')
    .option('--json', 'as JSON')
    .action(({ json }: { json?: true }) => {
      const all = describeContexts(readContexts())
      if (json) return console.log(formatJson(all))
      console.log(
        fitTable({
          heads: ['', 'NAME', 'URL', 'AS', 'EXPIRES', 'CERTIFICATE'],
          rows: all.map(({ name, current, url, as, expires_at: at, certificate }) => [
            current ? '*' : ' ',
            name,
            url,
            as,
            at === '' ? '' : formatTime(at),
            certificate.slice(0, 23),
          ]),
          isRight: () => false,
          output: process.stdout,
        }),
      )
    })
  command
    .command('use')
    .description(`Use the service of a context from now on; ${localName} is that of this host`)
    .argument('<context>')
    .action(async (name: string) => {
      const { contexts } = readContexts()
      const url = name === localName ? 'the service of this host' : getContext(name).url
      await writeContexts({ contexts, ...(name !== localName && { current: name }) })
      console.log(`Commands use ${url}.`)
    })
  command
    .command('remove')
    .alias('rm')
    .description('Forget a context with its token; `vmhost logout` ends the token too')
    .argument('<context>')
    .action(async (name: string) => {
      await removeContext(name)
      console.log(`Removed ${name}.`)
    })
  return command
}
