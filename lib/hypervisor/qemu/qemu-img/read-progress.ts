/** The longest end of the output that can belong to a number that is not complete. */
const tailSize = 32

/**
 * Creates a reader of the output of `qemu-img -p`: "(12.50/100%)" and so on. It calls `onProgress` with the part that is done, from
 * 0 to 1. The output comes in chunks, which can end within a number.
 */
export const createProgressReader = (onProgress: (fraction: number) => void): ((text: string) => void) => {
  let tail = ''
  return text => {
    const output = tail + text
    const percent = [...output.matchAll(/\((\d+(?:\.\d+)?)\/100%\)/g)].at(-1)
    tail = output.slice(percent ? percent.index + percent[0].length : -tailSize)
    if (percent) onProgress(Number(percent[1]) / 100)
  }
}
