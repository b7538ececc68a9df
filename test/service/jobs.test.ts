import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { EventMessage } from '#lib/events/event.ts'
import type { Job } from '#lib/jobs/schemas.ts'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { rounds } from '../support/rounds.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'
import { pause, until } from '../support/waiting.ts'

const env = { VMHOST_ROOT_PASSWORD: rootPassword }
const prefer = { prefer: 'respond-async' }
/** Milliseconds after the request at which the service is killed. */
const moments = rounds([0, 30], [0, 4, 12, 30, 70])
const verbs = ['start', 'stop', 'suspend', 'resume', 'restart', 'clone'] as const
/** In every run each verb is cut off on one driver. */
const usualVerbs: Readonly<Record<'embedded' | 'qemu', readonly (typeof verbs)[number][]>> = {
  embedded: ['start', 'stop', 'clone'],
  qemu: ['suspend', 'resume', 'restart'],
}
const before: Readonly<Record<(typeof verbs)[number], 'stopped' | 'running' | 'suspended'>> = {
  start: 'stopped',
  stop: 'running',
  suspend: 'running',
  resume: 'suspended',
  restart: 'running',
  clone: 'stopped',
}
const after = { start: 'running', stop: 'stopped', suspend: 'suspended', resume: 'running' } as const

/** Finds the program that copies a disk for a service, and stops it, however fast the disk is. Returns its pid. */
const stopCopying = async ({ pid }: Service): Promise<number> => {
  const copying = await until(async () => {
    const children = globSync(`/proc/${pid}/task/*/children`).flatMap(file => readFileSync(file, 'utf8').split(' '))
    const found = children.filter(Boolean).find(child => {
      const [program = '', ...words] = readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0')
      return program.endsWith('qemu-img') && words.includes('convert')
    })
    expect(found).toBeDefined()
    return Number(found)
  })
  process.kill(copying, 'SIGSTOP')
  return copying
}

/** A raw image of so many MB, none of them empty. */
const writeNoise = async (path: string, megabytes: number): Promise<void> => {
  await using file = await open(path, 'wx')
  const noise = randomBytes(1 << 20)
  for (let at = 0; at < megabytes; at += 1) await file.write(noise)
}

const ended = (service: Service, token: string, id: string): Promise<Job> =>
  until(async () => {
    const { body } = await service.call('GET', `/api/v1/jobs/${id}`, { token })
    expect(['completed', 'failed']).toContain(body.state)
    return body
  })

describe.each(['embedded', 'qemu'] as const)('jobs on %s', driver => {
  const left = driver === 'qemu' && withoutQemu
  describe.skipIf(left)(left ? 'QEMU is not installed' : 'when the service is killed at any moment of', () => {
    test.for(rounds(usualVerbs[driver], verbs))(
      '%s are resumed, or have failed with the reason, and the record is true',
      async verb => {
        using state = newState()
        let service = await startService({ state: state.path, driver, env })
        const token = await service.signIn()
        const machine = (method: string, path: string, body?: object, headers = {}) =>
          service.call(method, `/api/v1/machines${path}`, { token, headers, ...(body && { body }) })
        const states = async (): Promise<ReadonlyMap<string, string>> =>
          new Map((await machine('GET', '')).body.map((one: { Name: string; State: string }) => [one.Name, one.State]))
        const ends = { completed: 0, failed: 0 }
        for (const [round, moment] of moments.entries()) {
          const name = `m${round}`
          expect((await machine('PUT', '/demo/clone', { clone_name: name })).status).toBe(200)
          if (before[verb] !== 'stopped') await machine('PUT', `/${name}/start`)
          if (before[verb] === 'suspended') await machine('PUT', `/${name}/suspend`)
          const { status, body: job } = await machine(
            'PUT',
            `/${name}/${verb}`,
            verb === 'clone' ? { clone_name: `${name} copy` } : undefined,
            prefer,
          )
          expect(status).toBe(202)
          await pause(moment)
          await service.kill()
          const killed = new Date().toISOString()
          service = await startService({ state: state.path, driver, env })
          const end = await ended(service, token, job.id)
          const shown = await states()
          if (end.state === 'completed') {
            ends.completed += 1
            // An embedded machine ends with the service: what was so before the kill may not be so now.
            if (verb in after && end.updated_at > killed)
              expect(shown.get(name)).toBe(after[verb as keyof typeof after])
            if (verb === 'clone') expect(shown.has(`${name} copy`)).toBe(true)
          } else {
            ends.failed += 1
            expect(end.error).toMatch(/\w/)
          }
          for (const other of shown.keys())
            if (other !== 'demo') expect((await machine('DELETE', `/${other}?force=true`)).status).toBe(202)
        }
        const { events } = (await service.call('GET', '/api/v1/events?types=job_manager&limit=1000', { token })).body
        const told = (message: string) => events.filter((one: EventMessage) => one.message === message).length
        expect(told('JOB_CREATED')).toBe(moments.length)
        expect(told('JOB_COMPLETED')).toBe(ends.completed)
        // The audit tells of the request, and of how its job ended.
        const { entries } = (await service.call('GET', '/api/v1/audit?limit=1000', { token })).body
        const audited = entries.filter(
          (one: { operation: string; outcome: string; status: number }) =>
            [`machines/${verb}`].includes(one.operation) && one.status !== 202 && one.outcome !== 'refused',
        )
        expect(audited.length).toBeGreaterThanOrEqual(ends.completed)
        console.log(`${driver} ${verb}: ${ends.completed} completed, ${ends.failed} failed`)
        // What QEMU machines outlive is done again to its end, and a clone that was made is not made twice.
        if ((verb in after && driver === 'qemu') || verb === 'clone') expect(ends.failed).toBe(0)
        await service.stop()
      },
    )
  })
})

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'a clone with data to copy, as a job', () => {
  test('reports its progress with rate and remaining time, and can be cancelled', async () => {
    using state = newState()
    const service = await startService({ state: state.path, driver: 'qemu', env })
    const token = await service.signIn()
    const ask = (method: string, path: string, body?: object, headers = {}) =>
      service.call(method, `/api/v1${path}`, { token, headers, ...(body && { body }) })
    const disk = `${state.path}/attach/full.img`
    await writeNoise(disk, rounds(256, 1024))
    expect((await ask('POST', '/machines', { name: 'big', memory: 16, disks: [{ path: disk }] })).status).toBe(201)
    const clone = async (name: string): Promise<string> =>
      (await ask('PUT', '/machines/big/clone', { clone_name: name }, prefer)).body.id

    const first = await clone('copied')
    const copying = await stopCopying(service)
    const step = await until(async () => {
      process.kill(copying, 'SIGCONT')
      await pause(10)
      process.kill(copying, 'SIGSTOP')
      const { events } = (await ask('GET', '/events?types=job_manager&limit=1000')).body
      const steps = events.map(({ body }: EventMessage) => (body as unknown as Job).steps?.[0])
      const found = steps.find((one: NonNullable<Job['steps']>[number] | undefined) => one?.eta !== undefined)
      expect(found).toBeDefined()
      return found
    })
    expect(step).toMatchObject({ state: 'running', unit: 'percent', total: 100, rate: expect.any(Number) })
    process.kill(copying, 'SIGCONT')
    expect((await ended(service, token, first)).state).toBe('completed')

    const second = await clone('cancelled')
    const cancelled = await stopCopying(service)
    expect((await ask('POST', `/jobs/${second}/cancel`)).status).toBe(202)
    // It may have been killed already.
    spawnSync('kill', ['-CONT', String(cancelled)])
    expect(await ended(service, token, second)).toMatchObject({ state: 'failed', code: 409 })
    const { body } = await ask('GET', '/machines')
    expect(body.map((one: { Name: string }) => one.Name).sort()).toEqual(['big', 'copied', 'demo'])
    await service.stop()
  })
})
