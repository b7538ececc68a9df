import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { demoGuest } from '#lib/hypervisor/demo-guest.gen.ts'
import { newFolder } from '../support/folder.ts'
import { startS3Server, withoutS3 } from '../support/servers/s3-server.ts'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { sshdInstalled, startSshd } from '../support/servers/sshd.ts'
import type { Need } from './case.ts'
import { bundleObjects, packObjects } from './packs.ts'
import { node } from './runtimes/node.ts'

/** What stands around a service while the cases of an area run. */
export interface Surroundings extends AsyncDisposable {
  /** Values that the cases name. */
  readonly values: Readonly<Record<string, string>>
  /** Texts of this run, and what stands for them in replies. */
  readonly known: Readonly<Record<string, string>>
}

type Opened = Pick<Surroundings, 'values' | 'known'>

/** A bucket with packs, one with the same packs, and one with nothing. */
const openBucket = async (stack: AsyncDisposableStack): Promise<Opened> => {
  const server = stack.use(await startS3Server())
  const put = async (bucket: string, objects: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>) => {
    for (const [path, bytes] of Object.entries(objects)) {
      const { ok, status } = await server.call('PUT', `${bucket}/${path}`, bytes)
      if (!ok) throw new Error(`${path} was not stored: ${status}`)
    }
  }
  const [bucket, copy, empty] = [await server.newBucket(), await server.newBucket(), await server.newBucket()]
  for (const version of ['1', '2', '3']) {
    await put(bucket, packObjects('web', version))
    await put(copy, packObjects('web', version))
  }
  await put(bucket, bundleObjects)
  const connect = (to: string): string =>
    `provider=minio;bucket=${to};endpoint=${server.endpoint};access_key=${server.accessKey};secret_key=${server.secretKey}`
  return {
    values: {
      s3: server.endpoint,
      bucket,
      copy,
      accessKey: server.accessKey,
      secretKey: server.secretKey,
      connection: connect(bucket),
      copyConnection: connect(copy),
      emptyConnection: connect(empty),
    },
    known: { [server.endpoint]: 'S3' },
  }
}

const openOtherService = async (stack: AsyncDisposableStack): Promise<Opened> => {
  const { url } = stack.use(await node.start())
  return {
    values: { otherUrl: url, otherHost: new URL(url).host },
    known: { [url]: 'OTHER', [new URL(url).host]: 'OTHER' },
  }
}

const openSshHost = async (stack: AsyncDisposableStack): Promise<Opened> => {
  const folder = stack.use(newFolder())
  const { port, username, key } = stack.use(await startSshd(folder.path))
  return {
    values: { sshPort: String(port), sshUser: username, sshKey: key, sshFolder: folder.path },
    known: { [folder.path]: 'FOLDER', [String(port)]: 'PORT' },
  }
}

/** A multiboot kernel at the address that its header says. It hears nothing, so a graceful stop of it waits. */
const buildDeafKernel = (): Uint8Array => {
  const [at, size, flags, magic, forever] = [0x100000, 36, 0x10000, 0x1badb002, 0xfeeb]
  const words = new Uint32Array([magic, flags, -(magic + flags), at, at, at + size, at + size, at + 32, forever])
  return new Uint8Array(words.buffer)
}

const openGuests = async (stack: AsyncDisposableStack): Promise<Opened> => {
  const folder = stack.use(newFolder())
  const [kernel, deafKernel] = [join(folder.path, 'kernel.bin'), join(folder.path, 'deaf.bin')]
  writeFileSync(kernel, demoGuest)
  writeFileSync(deafKernel, buildDeafKernel())
  return { values: { kernel, deafKernel }, known: { [folder.path]: 'FOLDER' } }
}

const needs: Readonly<
  Record<Need, { readonly absence: string; readonly open: (stack: AsyncDisposableStack) => Promise<Opened> }>
> = {
  bucket: { absence: withoutS3 ? 'neither versitygw nor Go is installed' : '', open: openBucket },
  'other service': { absence: '', open: openOtherService },
  guests: { absence: '', open: openGuests },
  qemu: { absence: withoutQemu ? 'QEMU is not installed' : '', open: async () => ({ values: {}, known: {} }) },
  'ssh host': { absence: sshdInstalled ? '' : 'no sshd is installed', open: openSshHost },
}

/** Why something that is needed cannot be had here; empty when all can. */
export const findAbsence = (needed: readonly Need[] = []): string =>
  needed.map(need => needs[need].absence).find(Boolean) ?? ''

/** Opens what is needed, empty for each runtime. */
export const openSurroundings = async (needed: readonly Need[] = []): Promise<Surroundings> => {
  const stack = new AsyncDisposableStack()
  const opened: Opened[] = []
  for (const need of needed) opened.push(await needs[need].open(stack))
  const merge = (part: keyof Opened): Record<string, string> => Object.assign({}, ...opened.map(one => one[part]))
  return {
    values: merge('values'),
    known: merge('known'),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
