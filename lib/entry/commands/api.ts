import { Command } from 'commander'
import { UsageError } from '../usage-error.ts'
import type { CommandContext } from './context.ts'

const help = `
The path is below /api/v1, unless it begins with /api/, /metrics or /.well-known. For example:
  vmhost api GET /machines
  vmhost api PUT '/machines/web/stop?force=true'
  vmhost api POST /auth/roles --body '{"name":"BUILD","claims":["LIST_VM"]}'`

const toServedPath = (path: string): string => {
  const rooted = path.startsWith('/') ? path : `/${path}`
  return /^\/(api\/|metrics|\.well-known\/)/.test(rooted) ? rooted : `/api/v1${rooted}`
}

const readHeader = (text: string): readonly [string, string] => {
  const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(text) ?? []
  if (name === undefined || value === undefined)
    throw new UsageError(`--header must be like 'Prefer: wait=10', and "${text}" is not.`)
  return [name, value]
}

interface Options {
  readonly body?: string
  readonly header: readonly string[]
  readonly output?: string
}

/** `vmhost api` */
export const createApiCommand = ({ createRegister }: CommandContext): Command => {
  const command = new Command('api')
    .argument('<method>', 'GET, POST, PUT, PATCH or DELETE')
    .argument('<path>', 'path of the endpoint, with its query')
    .option('--body <json>', 'body of the request; - reads it from standard input, and @FILE from a file')
    .option(
      '--header <header>',
      'header of the request; repeat it for several',
      (value, all: string[]) => [...all, value],
      [],
    )
    .option('--output <file>', 'file for the reply; default: standard output')
    .addHelpText('after', help)
  createRegister('catalog')(command, async ({ client }) => {
    const [method = '', path = ''] = command.args
    const { body, header, output } = command.opts<Options>()
    const { expectSuccess } = await import('#lib/client/error.ts')
    const { readBody } = await import('../admin/read-body.ts')
    const { writeReply } = await import('../admin/write-reply.ts')
    const sent = await readBody(body)
    const headers = {
      ...(sent !== undefined && { 'Content-Type': 'application/json' }),
      ...Object.fromEntries(header.map(readHeader)),
    }
    const response = await expectSuccess(
      client.send({ method: method.toUpperCase(), path: toServedPath(path), headers, body: sent }),
    )
    const type = response.headers.get('Content-Type') ?? ''
    if (type.includes('json')) return writeReply(await response.json(), output)
    await writeReply(type.includes('text') ? await response.text() : response.body, output)
  })
  return command
}
