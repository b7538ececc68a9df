import { createHash } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'
import { openGuestFile } from '#lib/hypervisor/agent/guest-file.ts'
import type { Guest } from './enter-guest.ts'
import type { WriteFileQuery, WrittenFile } from './file-schemas.ts'
import { runGuestScript } from './guest-script.ts'

/** What a file of a guest is to contain. */
export interface NewGuestFile extends WriteFileQuery {
  readonly content: AsyncIterable<Uint8Array>
  /** The SHA-256 that the content must have. */
  readonly sha256: Buffer | undefined
}

/** The most bytes of a file. */
export const maxFileSize = 2 ** 30

/** Checks the path $1, and creates the empty file $2 beside it, which only root can open. */
const prepareScript = [
  '[ -d "$1" ] && exit 12',
  '[ -e "$1" ] && [ ! -f "$1" ] && exit 13',
  '[ -d "${1%/*}/" ] || exit 11',
  'umask 077; set -C; : > "$2"',
].join('\n')

/** Moves the complete file $2 to the path $1, with the rights $3. */
const publishScript = [
  'mode=$3; [ -n "$mode" ] || mode=$(stat -c %a "$1" 2>/dev/null) || mode=644',
  '[ -d "$1" ] && exit 12',
  'chmod "$mode" "$2" && mv -f "$2" "$1"',
].join('\n')

const removeScript = 'rm -f "$1"'

const createTooLargeError = (): ServiceError =>
  new ServiceError('too-large', `A file for a guest has at most ${maxFileSize} bytes.`, {
    // The rest of the body is not read, so the connection cannot serve another request.
    headers: { Connection: 'close' },
  })

/**
 * Writes a file of a guest as a whole: until everything is written and verified, the path has its old file. `confirm` is called
 * before the new file replaces it. Throws `invalid` for other bytes than those of the digest, `too-large`, `not-found`,
 * `conflict` for what is no file, `unsupported` for Windows, what `confirm` throws, and as the agent.
 */
export const writeGuestFile = async (
  guest: Guest,
  { path, mode, content, sha256 }: NewGuestFile,
  { signal, confirm }: { readonly signal: AbortSignal; readonly confirm: () => Promise<void> },
): Promise<WrittenFile> => {
  if (guest.system !== 'posix')
    throw new ServiceError('unsupported', 'Writing files is unsupported for a guest with Windows.')
  const part = `${path}.${crypto.randomUUID().slice(0, 8)}.part`
  await runGuestScript(guest, prepareScript, [path, part], signal)
  const hash = createHash('sha256')
  let size = 0
  try {
    {
      await using file = await openGuestFile(guest.agent, part, 'wb', signal)
      for await (const bytes of content) {
        size += bytes.length
        if (size > maxFileSize) throw createTooLargeError()
        hash.update(bytes)
        await file.write(bytes, signal)
      }
      await file.flush(signal)
    }
    const digest = hash.digest()
    if (sha256 && !digest.equals(sha256))
      throw new ServiceError('invalid', `The body does not have the SHA-256 of Repr-Digest. ${path} is as it was.`)
    await confirm()
    await runGuestScript(guest, publishScript, [path, part, mode ?? ''], signal)
    return { path, size, sha256: digest.toString('hex') }
  } catch (error) {
    await runGuestScript(guest, removeScript, [part]).catch(() => {})
    throw error
  }
}
