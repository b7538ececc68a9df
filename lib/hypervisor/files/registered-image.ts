import type { OpenFile } from '#lib/platform/open-file.ts'

/**
 * Opens the file of a registered image for reading, by the SHA-256 of the file, and verifies it. No path of a request leads to
 * such a file. Throws `not-found`, and `conflict` when the file has changed.
 */
export type OpenRegisteredImage = (digest: string) => Promise<OpenFile>
