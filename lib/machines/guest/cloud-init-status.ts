import * as z from 'zod'
import { isFault, ServiceError } from '#lib/errors.ts'
import type { CloudInitStatus } from './cloud-init-schemas.ts'
import type { Guest } from './enter-guest.ts'
import { openRegularFile } from './read-file.ts'

/** https://docs.cloud-init.io/en/latest/howto/status.html */
const files = { status: '/run/cloud-init/status.json', disabled: '/run/cloud-init/disabled' }
/** Bytes of the file of a guest, which may write what it likes into it. */
const maxSize = 256 * 1024
const maxErrors = 50
const maxErrorLength = 1000

/** Text of the guest without control characters, and cut. */
const createTextSchema = (maxLength: number) =>
  z.string().transform(text =>
    text
      .replace(/\p{C}+/gu, ' ')
      .trim()
      .slice(0, maxLength),
  )
/** Seconds since 1970. */
const Time = z
  .number()
  .min(1)
  .max(4e9)
  .transform(seconds => new Date(seconds * 1000).toISOString())
  .nullish()
  .catch(undefined)
const Stage = z
  .object({ start: Time, finished: Time, errors: z.array(createTextSchema(maxErrorLength)).default([]) })
  .default({ errors: [] })

/** The stages of cloud-init in their order. */
const StatusFile = z.object({
  v1: z.object({
    datasource: createTextSchema(200).nullish(),
    stage: createTextSchema(40).nullish(),
    'init-local': Stage,
    init: Stage,
    'modules-config': Stage,
    'modules-final': Stage,
  }),
})

/** Returns the text of a file of the guest; undefined if there is none. */
const readText = async (guest: Guest, path: string, signal: AbortSignal): Promise<string | undefined> => {
  const opened = await openRegularFile(guest, path, signal).catch((error: unknown) => {
    // An agent that runs no programs gives no other reason.
    const isMissing = isFault(error, 'not-found') || (isFault(error, 'upstream') && /no such file/i.test(error.message))
    if (!isMissing) throw error
    return undefined
  })
  if (!opened) return undefined
  await using file = opened
  const parts: Buffer[] = []
  for (let bytes = await file.read(signal); bytes.length > 0; bytes = await file.read(signal)) {
    parts.push(bytes)
    if (parts.reduce((size, { length }) => size + length, 0) > maxSize)
      throw new ServiceError('upstream', `${path} of ${guest.name} is longer than a status of cloud-init can be.`)
  }
  return Buffer.concat(parts).toString()
}

const parseStatus = (text: string, { name }: Guest): z.infer<typeof StatusFile>['v1'] => {
  try {
    return StatusFile.parse(JSON.parse(text)).v1
  } catch (error) {
    throw new ServiceError('upstream', `${files.status} of ${name} is no status of cloud-init.`, { cause: error })
  }
}

/**
 * Returns how far the cloud-init of a guest is since its boot, as its own files say. Throws `unsupported` for a guest without a
 * cloud-init of this kind, `upstream` for a file that is no status, and as the agent.
 */
export const readCloudInitStatus = async (guest: Guest, signal: AbortSignal): Promise<CloudInitStatus> => {
  if (guest.system === 'windows')
    throw new ServiceError('unsupported', `${guest.name} has Windows, which has no cloud-init.`)
  const text = await readText(guest, files.status, signal)
  if (text === undefined) {
    const isDisabled = (await readText(guest, files.disabled, signal)) !== undefined
    return { status: isDisabled ? 'disabled' : 'not started', errors: [] }
  }
  const { datasource, stage, ...file } = parseStatus(text, guest)
  const [first, last] = [file['init-local'], file['modules-final']]
  const stages = [first, file.init, file['modules-config'], last]
  const errors = stages.flatMap(one => one.errors).slice(0, maxErrors)
  return {
    status: !last.finished ? 'running' : errors.length > 0 ? 'error' : 'done',
    ...(stage && { stage }),
    ...(datasource && { datasource }),
    errors,
    ...(first.start && { started_at: first.start }),
    ...(last.finished && { finished_at: last.finished }),
  }
}
