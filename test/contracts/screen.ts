import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import screenEndpoint from '#functions/machines/screen.ts'
import screenshotEndpoint from '#functions/machines/screenshot.ts'
import type { Principal } from '#lib/access/principal.ts'
import { every } from '#lib/async/every.ts'
import { ServiceError } from '#lib/errors.ts'
import { createApp } from '#lib/http/app.ts'
import { openListener } from '#lib/listener/listener.ts'
import { openMachines } from '#lib/machines/machines.ts'
import { createTunnels } from '#lib/machines/tunnels/tunnels.ts'
import { createClientAddress } from '#lib/platform/client-address.ts'
import { newEventLog } from '../support/events.ts'
import { openRfbClient, type RfbClient } from '../support/guests/rfb-client.ts'
import { host } from '../support/harness.ts'
import { refuseImage } from '../support/images.ts'
import { decodePng, type Picture } from '../support/guests/png.ts'
import { cutCharacter } from '../support/guests/screen-text.ts'
import { patience, until } from '../support/waiting.ts'
import type { Workbench } from './hypervisor.ts'

interface Bench extends Pick<Workbench, 'driver' | 'close'> {
  /**
   * A machine with a screen whose guest prints `>` on its serial line and at the beginning of its screen, and shows behind it what
   * comes from the serial line.
   */
  machine(name: string): object
}

/** A service with a running machine on a driver, over real connections. */
const openService = async (bench: Bench) => {
  const driver = await bench.driver()
  const machines = await openMachines({
    driver,
    host,
    leaseImage: refuseImage,
    stopTimeout: 30_000,
    ...(await newEventLog()),
  })
  const caller: { -readonly [M in keyof Principal]: Principal[M] } = {
    id: randomUUID(),
    username: 'jane',
    email: '',
    roles: [],
    claims: new Set(['LIST_VM', 'EXECUTE_COMMAND_VM']),
    superUser: false,
  }
  const session = { isOpen: true }
  const tunnels = createTunnels(every)
  const app = createApp({
    routes: [
      { id: 'machines/screen', endpoint: screenEndpoint },
      { id: 'machines/screenshot', endpoint: screenshotEndpoint },
    ],
    services: { machines, tunnels },
    authenticate: async () => {
      if (!session.isOpen) throw new ServiceError('unauthenticated', 'The session has ended.')
      return { ...caller }
    },
    onOutcome: () => {},
    checkReplies: true,
  })
  const listener = await openListener({
    address: new URL('http://127.0.0.1:0'),
    clientAddress: createClientAddress([]),
    ...app,
  })
  const { id } = await machines.create(bench.machine('one') as never)
  const readSerial = async (): Promise<string> => {
    const { stream } = await machines.readConsole(id, caller, { offset: 0, search: undefined }, async () => caller)
    return new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).text()
  }
  const fetchScreenshot = (): Promise<Response> => fetch(`${listener.url}/api/v1/machines/one/screenshot`)
  return {
    driver,
    machines,
    id,
    caller,
    session,
    readSerial,
    fetchScreenshot,
    async boot(): Promise<void> {
      const before = (await readSerial()).split('>').length
      await machines.run(id, 'start')
      await until(async () => expect((await readSerial()).split('>').length).toBeGreaterThan(before))
    },
    async takePicture(): Promise<Picture> {
      const response = await fetchScreenshot()
      expect(response.headers.get('content-type')).toBe('image/png')
      return decodePng(await response.bytes())
    },
    /** Has the guest show text. */
    async show(text: string): Promise<void> {
      const port = await driver.openSerial!(id)
      port.write(Buffer.from(text))
      port.close()
    },
    view: (query = '', isAlone = false): Promise<RfbClient> =>
      openRfbClient(`${listener.url.replace('http', 'ws')}/api/v1/machines/one/screen${query}`, isAlone),
    async [Symbol.asyncDispose]() {
      tunnels[Symbol.dispose]()
      await machines.run(id, 'stop', { force: true }).catch(() => {})
      await listener.close(AbortSignal.timeout(0))
      await machines.close()
      await bench.close()
    },
  }
}

/** The number of pixels in which two pictures of the same size differ. */
const countDifferences = (one: Picture, other: Picture): number =>
  one.pixels.filter((pixel, at) => pixel !== other.pixels[at]).length

/** The rules of screenshots, which hold on every driver with them. */
export const screenshotContract = (name: string, createBench: () => Promise<Bench>): void => {
  describe(`screenshots: ${name}`, () => {
    let service: Awaited<ReturnType<typeof openService>>
    beforeAll(async () => void (service = await openService(await createBench())), patience)
    afterAll(() => service[Symbol.asyncDispose](), patience)

    test('a machine that is stopped has no picture', async () => {
      const response = await service.fetchScreenshot()
      expect([response.status, (await response.json()).message]).toEqual([409, expect.stringContaining('stopped')])
    })

    test('a picture shows what the guest has written', async () => {
      const { boot, takePicture, show } = service
      await boot()
      const before = await takePicture()
      expect(before.width * before.height).toBeGreaterThan(320 * 200)
      expect(new Set(before.pixels).size, 'it is not one colour').toBeGreaterThan(1)
      await show('#########')
      const after = await until(async () => {
        const picture = await takePicture()
        expect(countDifferences(before, picture)).toBeGreaterThan(100)
        expect(cutCharacter(picture, 0, 9)).toEqual(cutCharacter(picture, 0, 1))
        return picture
      })
      expect(after).toMatchObject({ width: before.width, height: before.height })
      const [prompt, first, ...others] = Array.from({ length: 10 }, (_, column) => cutCharacter(after, 0, column))
      expect(first).not.toEqual(prompt)
      expect(new Set(first).size, 'it is not one colour').toBeGreaterThan(1)
      for (const other of others) expect(other).toEqual(first)
    })

    test('the picture of a paused machine is what its guest has shown', async () => {
      const { machines, id, takePicture } = service
      await machines.run(id, 'pause')
      const [first, second] = [await takePicture(), await takePicture()]
      expect(cutCharacter(second, 0, 1)).toEqual(cutCharacter(first, 0, 1))
      await machines.run(id, 'resume')
    })

    test('many pictures at once are all whole', async () => {
      const pictures = await Promise.all(Array.from({ length: 8 }, service.takePicture))
      expect(new Set(pictures.map(({ width }) => width)).size).toBe(1)
    })

    test('only who may enter the machine gets one', async () => {
      const { caller, fetchScreenshot } = service
      const { claims } = caller
      caller.claims = new Set(['LIST_VM'])
      expect((await fetchScreenshot()).status).toBe(403)
      caller.claims = claims
    })
  })
}

/** The rules of screens, which hold on every driver with them. The guest echoes keys to its serial line. */
export const screenContract = (name: string, createBench: () => Promise<Bench>): void => {
  describe(`screens: ${name}`, () => {
    let service: Awaited<ReturnType<typeof openService>>
    const clients: RfbClient[] = []
    const view = async (query?: string, isAlone?: boolean): Promise<RfbClient> => {
      const client = await service.view(query, isAlone)
      clients.push(client)
      return client
    }
    beforeAll(async () => {
      service = await openService(await createBench())
      await service.boot()
    }, patience)
    afterAll(async () => {
      for (const { socket } of clients) socket.terminate()
      await service[Symbol.asyncDispose]()
    }, patience)

    test('a viewer sees what the guest writes, and its keys reach the guest', async () => {
      const client = await view()
      expect(client.socket.protocol).toBe('binary')
      const before = await client.readPicture()
      client.type('w')
      await until(async () => expect(await service.readSerial()).toContain('w'))
      await until(async () => expect((await client.readPicture()).equals(before)).toBe(false))
    })

    test('a viewer with view_only sees it too, but its keys, pointer and clipboard do not reach the guest', async () => {
      const [watcher, writer] = [await view('?view_only=true'), await view()]
      const before = await watcher.readPicture()
      watcher.type('x')
      watcher.socket.send(Buffer.from([5, 1, 0, 10, 0, 10]))
      watcher.socket.send(Buffer.from([6, 0, 0, 0, 0, 0, 0, 2, 97, 98]))
      watcher.socket.send(Buffer.from([255, 0, 0, 1, 0, 0, 0, 0x78, 0, 0, 0, 0x2d]))
      // What is sent after it arrives after it, so x would be in the output.
      await watcher.readPicture()
      writer.type('y')
      await until(async () => expect(await service.readSerial()).toContain('y'))
      expect(await service.readSerial()).not.toContain('x')
      await until(async () => expect((await watcher.readPicture()).equals(before)).toBe(false))
    })

    test('what is no message of the protocol ends the connection', async () => {
      const client = await view()
      client.socket.send(Buffer.from([77]))
      expect(await client.closed).toMatchObject({ code: 1008, reason: expect.stringContaining('77') })
    })

    test('twenty viewers see the same, also when one of them asks to be alone', async () => {
      const viewers = await Promise.all(Array.from({ length: 20 }, (_, at) => view('?view_only=true', at === 10)))
      await service.show('@')
      await until(async () => {
        const pictures = await Promise.all(viewers.map(viewer => viewer.readPicture()))
        expect(new Set(pictures.map(picture => picture.toString('base64'))).size).toBe(1)
      })
      for (const { socket } of viewers) socket.terminate()
    })

    test('screens close with the rights of their caller', async () => {
      const { caller, session } = service
      const { claims } = caller
      const [first, second] = [await view(), await view('?view_only=true')]
      caller.claims = new Set(['LIST_VM'])
      expect(await first.closed).toMatchObject({ code: 1008, reason: expect.stringContaining('EXECUTE_COMMAND_VM') })
      expect(await second.closed).toMatchObject({ code: 1008 })
      await expect(view()).rejects.toThrow('403')
      caller.claims = claims
      const third = await view()
      session.isOpen = false
      expect(await third.closed).toMatchObject({ code: 1008, reason: expect.stringContaining('session') })
      await expect(view()).rejects.toThrow('401')
      session.isOpen = true
    })

    test('the screen of a paused machine can be seen; a machine that stops closes its screens', async () => {
      const { machines, id } = service
      await machines.run(id, 'pause')
      const client = await view()
      expect((await client.readPicture()).length).toBeGreaterThan(0)
      await machines.run(id, 'resume')
      await machines.run(id, 'stop', { force: true })
      expect((await client.closed).code).toBeLessThan(1002)
      await expect(view()).rejects.toThrow('409')
    })
  })
}
