import { openAsBlob, statSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import { Readable } from 'node:stream'
import { Command } from 'commander'
import type { Client } from '#lib/client/types.ts'
import { writeReply } from '../admin/write-reply.ts'
import { UsageError } from '../usage-error.ts'
import type { CommandContext } from './context.ts'

interface GuestFile {
  readonly machine: string
  readonly path: string
}

/** Splits `MACHINE:PATH`. A file of this host is undefined: it has no colon, or a slash before it. */
const parseGuestFile = (text: string): GuestFile | undefined => {
  const [, machine, path] = /^([^/:]+):(.+)$/.exec(text) ?? []
  return machine === undefined || path === undefined ? undefined : { machine, path }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

const copyFromGuest = async (client: Client, { machine, path }: GuestFile, target: string): Promise<void> => {
  const content = await client.api.machines.readFile({ params: { id: machine }, query: { path } })
  await writeReply(content, isFolder(target) ? join(target, posix.basename(path)) : target)
}

const copyToGuest = async (client: Client, source: string, { machine, path }: GuestFile): Promise<void> => {
  const target = path.endsWith('/') ? `${path}${basename(source)}` : path
  if (isFolder(source)) throw new UsageError(`${source} is a folder. Copy an archive of it.`)
  const isInput = source === '-'
  const written = await client.api.machines.writeFile({
    params: { id: machine },
    query: { path: target, ...(!isInput && { mode: (statSync(source).mode & 0o777).toString(8) }) },
    // A web stream of Node is one of the web.
    body: isInput ? (Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>) : await openAsBlob(source),
  })
  console.log(`Copied ${written.size} bytes to ${machine}:${written.path}.`)
}

const help = `
For example:
  vmhost cp web:/var/log/syslog .
  vmhost cp site.tar.gz web:/tmp/
A host file whose name has a colon is written as ./NAME; - is standard input or standard output.`

/** `vmhost cp` */
export const createCopyCommand = ({ createRegister }: CommandContext): Command => {
  const command = new Command('cp')
    .argument('<source>', 'file of this host, or MACHINE:PATH')
    .argument('<destination>', 'file or folder of this host, or MACHINE:PATH')
    .addHelpText('after', help)
  createRegister()(command, async ({ client }, { args: [source = '', destination = ''] }) => {
    const from = parseGuestFile(source)
    const to = parseGuestFile(destination)
    if (from && !to) return copyFromGuest(client, from, destination)
    if (to && !from) return copyToGuest(client, source, to)
    throw new UsageError('One of the two must be MACHINE:PATH, and the other one a file of this host.')
  })
  return command
}
