import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { Job } from '#lib/jobs/schemas.ts'
import { type Answer, type Call, test } from '../../support/harness.ts'
import { at } from './packs.ts'

const create = async (call: Call): Promise<void> => {
  const body = { name: 'source', cpus: 1, memory: 16, disks: [{ size: 1 }] }
  expect((await call('POST', '/api/v1/machines', { body })).status).toBe(201)
}
const push = (call: Call, more: object = {}): Promise<Answer> =>
  call('POST', '/api/v1/catalog/push', {
    body: { catalog_id: 'demo', version: '1', connection: 'provider=local-storage', uuid: 'source', ...more },
  })
const pull = (call: Call, name: string): Promise<Answer> =>
  call('PUT', '/api/v1/catalog/pull', { body: { catalog_id: 'demo', version: '1', machine_name: name } })

/** Gives the steps of the latest job. */
const steps = async (call: Call): Promise<NonNullable<Job['steps']>> => {
  const { body } = await call('GET', '/api/v1/jobs')
  return (body as Job[])[0]!.steps!
}
const statesOf = async (call: Call): Promise<string[]> =>
  (await steps(call)).map(({ state, name }) => `${state} ${name}`)
const messageOf = async (call: Call, wanted: string): Promise<string | undefined> =>
  (await steps(call)).find(({ name }) => name === wanted)?.message

describe('a message about a busy machine', () => {
  test('names the push, and not its inner operations', async ({ call, driver }) => {
    await create(call)
    await call('PUT', '/api/v1/machines/source/start')
    expect((await push(call)).body.message).toBe(
      'source is running, so a push is not possible now; stop it first, or ask for `suspend`.',
    )
    await call('PUT', '/api/v1/machines/source/stop')
    driver.delay = 60_000
    const pushing = push(call)
    await expect.poll(async () => (await call('GET', '/api/v1/machines/source/status')).body.status).toBe('cloning')
    expect((await call('PUT', '/api/v1/machines/source/start')).body.message).toBe(
      'source is being packed; wait until that is done, then try again.',
    )
    const { body } = await call('GET', '/api/v1/jobs')
    await call('POST', `/api/v1/jobs/${body[0].id}/cancel`)
    expect((await pushing).status).toBe(409)
  })
})

test('the jobs of a push and a pull show what they are about', async ({ call }) => {
  await create(call)
  await push(call)
  await pull(call, 'copy')
  const jobs: Job[] = (await call('GET', '/api/v1/jobs')).body
  expect(jobs.find(job => job.job_operation === 'push')?.about).toMatchObject({ catalog_id: 'demo', uuid: 'source' })
  expect(jobs.find(job => job.job_operation === 'pull')?.about).toMatchObject({ machine_name: 'copy' })
})

describe('the steps of a transfer', () => {
  test('a failure between two steps marks the next one as failed', async ({ call }) => {
    await create(call)
    const { body } = await push(call, { uuid: 'nope' })
    expect(await statesOf(call)).toEqual([
      'completed push_validate_stage',
      'failed collect',
      'skipped push_compress_stage',
      'skipped push_check_remote_stage',
      'skipped push_upload_pack_stage',
      'skipped push_upload_meta_stage',
      'skipped push_register_stage',
      'skipped cleaning_up',
    ])
    const [, failed, skipped] = await steps(call)
    expect(failed).toMatchObject({ error: body.message })
    expect(skipped).toMatchObject({ current_percentage: 0 })
    expect(skipped).not.toHaveProperty('message')
    await push(call)
    expect((await push(call, { override_existing: false })).status).toBe(409)
    expect((await statesOf(call)).slice(0, 2)).toEqual(['failed push_validate_stage', 'skipped collect'])
  })

  test('an error during the collection of files fails that step', async ({ call, driver }) => {
    await create(call)
    driver.failure = new Error('a defect')
    expect((await push(call)).status).toBe(500)
    expect((await statesOf(call)).slice(0, 3)).toEqual([
      'completed push_validate_stage',
      'failed collect',
      'skipped push_compress_stage',
    ])
  })

  test('an unneeded step is skipped, with the reason', async ({ call, folder }) => {
    await create(call)
    await push(call)
    expect(await statesOf(call)).not.toContainEqual(expect.stringMatching(/^skipped/))
    await pull(call, 'one')
    expect(await statesOf(call)).not.toContainEqual(expect.stringMatching(/^skipped/))
    await pull(call, 'two')
    expect(await statesOf(call)).toEqual([
      'completed pull_validate_stage',
      'completed pull_check_cache_stage',
      'skipped downloader',
      'skipped decompressor',
      'skipped pull_cache_stage',
      'completed pull_register_stage',
    ])
    expect(await messageOf(call, 'downloader')).toContain('the cache has the machine')
    const bundle = join(folder, 'bundle.pvm')
    mkdirSync(bundle)
    writeFileSync(join(bundle, 'disk.hdd'), 'disk')
    expect((await push(call, { uuid: undefined, local_path: bundle, version: '2' })).status).toBe(200)
    expect(await statesOf(call)).toContain('skipped collect')
  })

  test('a push in chunks shows how many chunks were sent', async ({ call }) => {
    await create(call)
    await push(call, { chunked: true })
    expect(await messageOf(call, 'push_compress_stage')).toMatch(
      /^(1 chunk|\d+ chunks), of which \d+ \(.+ k?B\) (was|were) new$/,
    )
    expect((await steps(call))[2]!.display_name).toBe('Pack and upload the chunks')
    await push(call, { chunked: true, version: '2' })
    expect(await messageOf(call, 'push_compress_stage')).toMatch(/^(1 chunk|\d+ chunks), none of them new$/)
  })

  test('a trust warning is shown to the caller of a pull', async ({ call, trust, warnings }) => {
    await create(call)
    await push(call)
    trust.policy = 'warn'
    expect((await pull(call, 'one')).status).toBe(200)
    expect(warnings).toEqual(['None of the trusted keys has signed the pack demo-x86_64-1.'])
    expect(await messageOf(call, 'pull_validate_stage')).toBe(warnings[0])
  })

  test('a deletion gives the number of deleted manifests', async ({ call }) => {
    await create(call)
    for (const version of ['1', '2', '3']) await push(call, { version })
    expect((await call('DELETE', at('demo', '3'))).body.message).toBe(
      'demo 3 was deleted from the catalog: 1 manifest.',
    )
    expect((await call('DELETE', at('demo'))).body.message).toBe('demo was deleted from the catalog: 2 manifests.')
  })
})
