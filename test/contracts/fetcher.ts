import { describe, expect, test } from 'vitest'
import { TransientError } from '#lib/async/retry.ts'
import type { CreateFetcher, Reply } from '#lib/objects/http/fetcher.ts'
import { retryRequests } from '#lib/objects/http/origin-bound-fetch.ts'
import { createBody } from '#lib/objects/http/request-body.ts'
import { createVerifiedStream, readText } from '#lib/objects/http/response-body.ts'
import { drain } from '#lib/objects/http/response.ts'

/** The addresses of `startScenarios`. */
export interface Addresses {
  readonly url: string
  readonly tlsUrl: string
}

const idleTimeout = 400

/** What every fetcher must do; the suite also runs where there is no Node. */
export const fetcherContract = (name: string, createFetcher: CreateFetcher, addresses: () => Addresses): void => {
  const fetcher = createFetcher({ idleTimeout })
  const at = (path: string): URL => new URL(path, addresses().url)
  const read = ({ body }: Reply): Promise<string> => readText('x', body)
  /** Waits so many milliseconds by a clock that is not this program's. */
  const wait = async (milliseconds: number): Promise<void> =>
    drain(await createFetcher()({ method: 'GET', url: at(`late/${milliseconds}`) }))

  describe(`a fetcher: ${name}`, () => {
    test('sends the method, the headers and the body, with the length of the body', async () => {
      for (const [method, size] of [
        ['PUT', 3 * 1024 * 1024 + 1],
        ['POST', 5],
        ['PUT', 0],
      ] as const) {
        const body = createBody(new Uint8Array(size))
        const reply = await fetcher({ method, url: at('accept'), headers: { 'x-amz-date': 'now' }, body })
        expect(JSON.parse(await read(reply))).toMatchObject({
          method,
          size,
          headers: { 'content-length': String(size), 'x-amz-date': 'now' },
        })
      }
      const reply = await fetcher({ method: 'PROPFIND', url: at('accept') })
      expect(JSON.parse(await read(reply))).toMatchObject({ method: 'PROPFIND', size: 0 })
    })

    test('gives every status with its headers, and follows no redirect', async () => {
      const redirect = await fetcher({ method: 'GET', url: at('redirects') })
      expect(redirect).toMatchObject({ status: 302, headers: { location: 'http://127.0.0.1:1/' } })
      expect(await read(redirect)).toBe('away')
      const missing = await fetcher({ method: 'GET', url: at('missing') })
      expect([missing.status, await read(missing)]).toEqual([404, 'not there'])
      const headed = await fetcher({ method: 'HEAD', url: at('missing') })
      expect(headed).toMatchObject({ status: 404, headers: { 'content-length': '9' } })
      expect(await read(headed)).toBe('')
      const empty = await fetcher({ method: 'GET', url: at('no-content') })
      expect([empty.status, await read(empty)]).toEqual([204, ''])
    })

    test('reads ranges', async () => {
      const reply = await fetcher({ method: 'GET', url: at('bytes/1000'), headers: { Range: 'bytes=10-12' } })
      expect(reply).toMatchObject({ status: 206, headers: { 'content-range': 'bytes 10-12/1000' } })
      expect(await read(reply)).toBe('012')
    })

    test('a slow source does not count as an idle server', async () => {
      const open = async function* () {
        yield Buffer.from('pa')
        await wait(2 * idleTimeout)
        yield Buffer.from('ck')
      }
      const reply = await fetcher({ method: 'PUT', url: at('accept'), body: { size: 4, open } })
      expect(reply.status).toBe(200)
      drain(reply)
    })

    test('a server that reads nothing is idle', async () => {
      const body = createBody(Buffer.alloc(64 * 1024 * 1024))
      await expect(fetcher({ method: 'PUT', url: at('reads-nothing'), body })).rejects.toThrow(
        'nothing came or went for 0.4 s',
      )
    })

    test('a server that has everything and does not reply is idle', async () => {
      const body = createBody(Buffer.from('pack'))
      await expect(fetcher({ method: 'PUT', url: at('silent'), body })).rejects.toThrow(
        'nothing came or went for 0.4 s',
      )
    })

    test('a server that sends half a reply is idle', async () => {
      const { body } = await fetcher({ method: 'GET', url: at('half') })
      const failed: unknown = await readText('x', body).catch((error: unknown) => error)
      expect(failed).toBeInstanceOf(TransientError)
      expect(failed).toMatchObject({ message: expect.stringContaining('nothing came or went for 0.4 s') })
    })

    test('a slow reader gets a body that has arrived completely', async () => {
      const { body } = await fetcher({ method: 'GET', url: at(`two-parts/${idleTimeout / 4}`) })
      const stream = createVerifiedStream(body, { host: 'x', what: 'a', size: 4 })
      await wait(2 * idleTimeout)
      expect(await new Response(stream).text()).toBe('pack')
    })

    test('errors of the source are thrown unchanged and not retried', async () => {
      for (const error of [
        new Error('the disk is broken'),
        new TransientError('the other storage is busy', undefined),
      ]) {
        let opened = 0
        const open = async function* () {
          opened += 1
          yield Buffer.from('pa')
          throw error
        }
        const sent = retryRequests(fetcher)({ method: 'PUT', url: at('accept'), body: { size: 4, open } })
        expect(await sent.catch((thrown: unknown) => thrown)).toBe(error)
        expect(opened).toBe(1)
      }
    })

    test('an upload is retried after each broken connection', async () => {
      let opened = 0
      const bytes = Buffer.alloc(20 * 1024 * 1024)
      const open = () => {
        opened += 1
        return createBody(bytes).open()
      }
      const send = (url: URL) => ({ method: 'PUT', url, body: { size: bytes.length, open } })
      await expect(fetcher(send(at(`breaks-twice/${crypto.randomUUID()}`)))).rejects.toBeInstanceOf(TransientError)
      opened = 0
      const reply = await retryRequests(fetcher)(send(at(`breaks-twice/${crypto.randomUUID()}`)))
      expect([reply.status, opened]).toEqual([200, 3])
      drain(reply)
    })

    test('a refusal that comes before the whole body was sent is received', async () => {
      const body = createBody(Buffer.alloc(64 * 1024 * 1024))
      const reply = await fetcher({ method: 'PUT', url: at('refuses'), body })
      expect([reply.status, await read(reply)]).toEqual([403, 'no'])
    })

    test('a connection that cannot be made or breaks may be better the next time', async () => {
      await expect(fetcher({ method: 'GET', url: at('nothing') })).rejects.toBeInstanceOf(TransientError)
      await expect(fetcher({ method: 'GET', url: at('no HTTP') })).rejects.toMatchObject({ fault: 'upstream' })
      await expect(fetcher({ method: 'GET', url: new URL('http://127.0.0.1:1111/') })).rejects.toMatchObject({
        fault: 'upstream',
        message: expect.stringContaining('The request to the storage 127.0.0.1:1111 failed: '),
      })
      for (const scenario of ['a body that is cut', 'chunks that are cut']) {
        const { body } = await fetcher({ method: 'GET', url: at(scenario) })
        const failed: unknown = await readText('x', body).catch((error: unknown) => error)
        expect(failed).toBeInstanceOf(TransientError)
        expect(failed).toMatchObject({ message: expect.stringContaining('The reply of the storage x broke off') })
      }
    })

    test('a name that is not found and a certificate that is not trusted stay so', async () => {
      for (const url of ['http://no-such-host.invalid/', addresses().tlsUrl]) {
        const failed: unknown = await fetcher({ method: 'GET', url: new URL(url) }).catch((error: unknown) => error)
        expect(failed).toMatchObject({ fault: 'upstream' })
        expect(failed instanceof TransientError).toBe(false)
      }
    })

    test('no address of a metadata service is a storage', async () => {
      for (const host of ['169.254.169.254', '[::ffff:a9fe:a9fe]', '[fd00:ec2::254]'])
        await expect(fetcher({ method: 'GET', url: new URL(`http://${host}/`) })).rejects.toMatchObject({
          fault: 'forbidden',
        })
    })

    test('ends a request and a reply with the reason of the signal, and leaves the connection', async () => {
      const reason = new Error('not wanted')
      const aborted = new AbortController()
      aborted.abort(reason)
      await expect(fetcher({ method: 'GET', url: at('accept'), signal: aborted.signal })).rejects.toBe(reason)
      const patient = createFetcher()
      const waiting = async (count: string): Promise<void> => {
        while ((await read(await fetcher({ method: 'GET', url: at('waiting') }))) !== count);
      }
      const asking = new AbortController()
      const sent = patient({ method: 'GET', url: at('silent'), signal: asking.signal })
      await waiting('1')
      asking.abort(reason)
      await expect(sent).rejects.toBe(reason)
      await waiting('0')
      const reading = new AbortController()
      const reply = await patient({ method: 'GET', url: at('bytes/30000000'), signal: reading.signal })
      const stream = createVerifiedStream(reply.body, {
        host: 'x',
        what: 'a',
        size: 30_000_000,
        signal: reading.signal,
      })
      const reader = stream.getReader()
      await reader.read()
      reading.abort(reason)
      const rest = async (): Promise<void> => {
        while (!(await reader.read()).done);
      }
      await expect(rest()).rejects.toBe(reason)
    })
  })
}
