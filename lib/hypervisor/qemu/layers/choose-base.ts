/** The most images that a disk of a running machine consists of, with the one that it is written to. */
export const maxImages = 4

/** A layer stays by itself if it is so many times as large as what is merged above it: copying it again and again would be slow. */
const keptRatio = 4

/**
 * Chooses which layers of a disk are merged into its uppermost image, so that one more overlay fits. `sizes` has the bytes of each
 * image, the uppermost first. Returns the index of the image that the uppermost one builds on then; undefined if there is room. The
 * lowest image always stays, because others share it.
 */
export const chooseBase = (sizes: readonly number[]): number | undefined => {
  if (sizes.length < maxImages) return undefined
  let base = 1
  for (let merged = sizes[0] ?? 0; base < sizes.length - 1; base += 1) {
    const isShort = sizes.length - base + 1 < maxImages
    const size = sizes[base] ?? 0
    if (isShort && size >= keptRatio * merged) break
    merged += size
  }
  return base
}
