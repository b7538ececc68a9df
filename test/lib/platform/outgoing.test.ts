import { createServer, type RequestListener, setGlobalProxyFromEnv } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { createOutgoing } from '#lib/platform/outgoing.ts'
import type { SendOutgoing } from '#lib/platform/outgoing-request.ts'
import { createMayReach } from '#lib/platform/outgoing-addresses.ts'
import { createSelfSigned } from '#lib/platform/self-signed.ts'

describe('which addresses may be reached', () => {
  const mayReach = createMayReach([])

  test.for([
    ...['8.8.8.8', '1.1.1.1', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255'],
    ...['128.0.0.0', '169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.167.255.255'],
    ...['192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255'],
    ...['2606:4700:4700::1111', '2a00:1450::1', '2001:200::1', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '2002:808:808::1'],
  ])('%s is public', address => expect(mayReach(address)).toBe(true))

  test.for([
    ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '127.0.0.1', '127.255.255.255'],
    ...['169.254.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1', '192.88.99.1'],
    ...['192.168.0.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
    ...['168.63.129.16', '100.100.100.200', '192.0.0.192', '169.254.170.2'],
    ...[
      '::',
      '::1',
      '0:0:0:0:0:0:0:1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '0:0:0:0:0:ffff:7f00:1',
      '::FFFF:10.0.0.1',
    ],
    ...['::127.0.0.1', '::ffff:0:127.0.0.1', '64:ff9b::10.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::8.8.8.8'],
    ...['2002:7f00:1::', '2002:a9fe:a9fe::1', '2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:db8::1'],
    ...[
      'fe80::1',
      'fe80::1%eth0',
      'febf::1',
      'fec0::1',
      'fc00::1',
      'fd00:ec2::254',
      'fd20:ce::254',
      'ff02::1',
      '100::1',
    ],
    ...['3fff::1', '4000::1', '', 'localhost', '127.1', '2130706433', '8.8.8.8/8', ' 8.8.8.8'],
  ])('%s is not', address => expect(mayReach(address)).toBe(false))

  test('private ones when they are named, by any of their names, and no others', () => {
    const some = createMayReach(['10.1.0.0/16', '127.0.0.1', 'fd12::/16'])
    for (const address of ['10.1.2.3', '127.0.0.1', '::ffff:10.1.2.3', '::ffff:7f00:1', 'fd12::1', '8.8.8.8'])
      expect(some(address), address).toBe(true)
    for (const address of ['10.2.0.1', '127.0.0.2', '::ffff:10.2.0.1', 'fd13::1', '169.254.169.254'])
      expect(some(address), address).toBe(false)
  })

  test('the metadata service of a cloud only by its own address', () => {
    const wide = createMayReach(['0.0.0.0/0', '::/0'])
    for (const address of [
      '169.254.169.254',
      '::ffff:169.254.169.254',
      '64:ff9b::a9fe:a9fe',
      'fd00:ec2::254',
      '168.63.129.16',
    ])
      expect(wide(address), address).toBe(false)
    expect(wide('169.254.1.1') && wide('127.0.0.1') && wide('fe80::1')).toBe(true)
    expect(createMayReach(['169.254.169.254'])('::ffff:169.254.169.254')).toBe(true)
  })

  test('an address of IPv4 counts the same in each of the clothes that IPv6 has for it', () => {
    const hex = (high: number, low: number): string => ((high << 8) | low).toString(16)
    fc.assert(
      fc.property(fc.tuple(...Array.from({ length: 4 }, () => fc.nat(255))), bytes => {
        const [a = 0, b = 0, c = 0, d = 0] = bytes
        const plain = bytes.join('.')
        const [high, low] = [hex(a, b), hex(c, d)]
        for (const dressed of [
          `::ffff:${plain}`,
          `::ffff:${high}:${low}`,
          `64:ff9b::${high}:${low}`,
          `2002:${high}:${low}::1`,
        ])
          expect(mayReach(dressed), dressed).toBe(mayReach(plain))
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('requests to other hosts', () => {
  const open: Server[] = []
  const listen = async (server: Server): Promise<number> => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    open.push(server)
    return (server.address() as AddressInfo).port
  }
  const serve = (answer: RequestListener): Promise<number> => listen(createServer(answer))
  afterEach(async () => {
    for (const server of open.splice(0)) {
      if ('closeAllConnections' in server) (server as ReturnType<typeof createServer>).closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  })
  const to = (address: string) => ({ address, family: address.includes(':') ? 6 : 4 })
  const get = (outgoing: SendOutgoing, url: string, signal = AbortSignal.timeout(5_000), most = 1_000) =>
    outgoing({ method: 'GET', url: new URL(url), headers: {}, signal, maxReplyBytes: most }).then(
      ({ status, body }) => `${status} ${body.toString()}`,
    )
  const local = createOutgoing({ allowed: ['127.0.0.1'], resolve: async () => [to('127.0.0.1')] })

  test.for([
    ...['127.0.0.1', '127.1', '0177.0.0.1', '0x7f.0.0.1', '0x7f000001', '2130706433', '017700000001', '127.0.0.1.'],
    ...['①②⑦.⓪.⓪.①', '0', '0.0.0.0', 'localhost', '[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'],
    ...['[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[0:0:0:0:0:ffff:127.0.0.1]'],
  ])('http://%s does not reach this host', async host => {
    let asked = 0
    const port = await serve((_, response) => {
      asked += 1
      response.end()
    })
    await expect(get(createOutgoing({ allowed: [] }), `http://${host}:${port}/`)).rejects.toMatchObject({
      fault: 'forbidden',
    })
    expect(asked).toBe(0)
  })

  test('the address that was checked is the one that is connected to, though the name has another by then', async () => {
    const port = await serve((request, response) => response.end(`for ${request.headers.host}`))
    const answers = [[to('127.0.0.1')], [to('10.0.0.1')]]
    const asked: string[] = []
    const outgoing = createOutgoing({
      allowed: ['127.0.0.1'],
      async resolve(host) {
        asked.push(host)
        return answers.shift()!
      },
    })
    expect(await get(outgoing, `http://rebinds.example.test:${port}/`)).toBe(`200 for rebinds.example.test:${port}`)
    await expect(get(outgoing, `http://rebinds.example.test:${port}/`)).rejects.toMatchObject({ fault: 'forbidden' })
    expect(asked).toEqual(['rebinds.example.test', 'rebinds.example.test'])
  })

  test('of several addresses those that may not be reached are not tried', async () => {
    const port = await serve((request, response) => response.end(request.socket.localAddress))
    const outgoing = createOutgoing({
      allowed: ['127.0.0.2'],
      resolve: async () => [to('127.0.0.1'), to('::1'), to('127.0.0.2')],
    })
    // The server is on 127.0.0.1 alone, which must not be tried.
    await expect(get(outgoing, `http://many.example.test:${port}/`)).rejects.toMatchObject({
      fault: 'upstream',
      message: `The request to many.example.test:${port} failed: ECONNREFUSED; nobody listens there: does the service run, and on this port?`,
    })
  })

  test('no proxy of the environment is used', async () => {
    const proxy = await serve((_, response) => response.end('by the proxy'))
    const port = await serve((_, response) => response.end('direct'))
    const restore = setGlobalProxyFromEnv({ http_proxy: `http://127.0.0.1:${proxy}` })
    try {
      expect(await get(local, `http://x.example.test:${port}/`)).toBe('200 direct')
    } finally {
      restore()
    }
  })

  test('redirects are replies', async () => {
    const port = await serve((_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end('away'))
    expect(await get(local, `http://x.example.test:${port}/`)).toBe('302 away')
  })

  test('a certificate is checked against the name', async () => {
    const { cert, key } = await createSelfSigned(['x.example.test'])
    const port = await listen(createTlsServer({ cert, key }, (_, response) => response.end('in')))
    await expect(get(local, `https://x.example.test:${port}/`)).rejects.toMatchObject({
      fault: 'upstream',
      message: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    })
  })

  const raw = (speak: (socket: Socket) => void): Promise<number> =>
    listen(
      createTcpServer(socket => {
        socket.on('error', () => {})
        socket.once('data', () => speak(socket))
      }),
    )
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
  test.for<[string, (socket: Socket) => void, RegExp]>([
    ['a body that is cut', socket => socket.end(`${head}Content-Length: 100\r\n\r\n[`), /ECONNRESET/],
    ['chunks that are cut', socket => socket.end(`${head}Transfer-Encoding: chunked\r\n\r\n5\r\n[1`), /ECONNRESET/],
    ['no HTTP', socket => socket.end('SSH-2.0-x\r\n'), /HPE_/],
    ['nothing', socket => socket.end(), /ECONNRESET/],
    ['headers without end', socket => socket.end(`${head}X: ${'x'.repeat(100_000)}\r\n\r\n`), /HPE_HEADER_OVERFLOW/],
    ['a body over the limit', socket => socket.end(`${head}Content-Length: 2000\r\n\r\n${'x'.repeat(2000)}`), /larger/],
    [
      'another protocol',
      socket => socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
      /ended the connection/,
    ],
  ])('%s', async ([, speak, told]) => {
    const port = await raw(speak)
    await expect(get(local, `http://x.example.test:${port}/`)).rejects.toMatchObject({
      fault: 'upstream',
      message: expect.stringMatching(told),
    })
  })

  test.for<[string, (socket: Socket) => void]>([
    ['no answer', () => {}],
    ['half an answer', socket => void socket.write(`${head}Content-Length: 100\r\n\r\n[`)],
  ])('%s, until the limit or until nobody waits', async ([, speak]) => {
    const port = await raw(speak)
    const url = `http://x.example.test:${port}/`
    await expect(get(local, url, AbortSignal.timeout(100))).rejects.toMatchObject({ fault: 'timeout' })
    const controller = new AbortController()
    const asked = get(local, url, controller.signal)
    setTimeout(() => controller.abort(), 50)
    await expect(asked).rejects.toMatchObject({ fault: 'upstream', message: expect.stringContaining('given up') })
  })

  test('a look-up that does not end is given up too', async () => {
    const stuck = createOutgoing({ allowed: [], resolve: () => new Promise(() => {}) })
    await expect(get(stuck, 'http://x.example.test/', AbortSignal.timeout(50))).rejects.toMatchObject({
      fault: 'timeout',
    })
    await expect(get(stuck, 'http://x.example.test/', AbortSignal.abort())).rejects.toMatchObject({ fault: 'upstream' })
  })
})
