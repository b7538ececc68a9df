import { hash } from 'node:crypto'

/** Derives the id of the manifest of a push from the id of its job, so that each try of the job has the same manifest. */
export const deriveManifestId = (job: string = crypto.randomUUID()): string => {
  const digits = hash('sha256', `manifest of ${job}`)
  // A UUID of version 8 (RFC 9562, 5.8), whose other bits are free.
  const parts = [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(13, 16)}`, `8${digits.slice(17, 20)}`]
  return [...parts, digits.slice(20, 32)].join('-')
}
