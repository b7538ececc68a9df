import { abortable } from '#lib/async/abortable.ts'
import type { Qmp } from './qmp.ts'

/** Milliseconds between two presses of the power button: a guest that is still booting does not notice the first. */
const pressInterval = 2_000

/** Asks the guest to power itself off, until the connection ends. Throws the reason of `deadline`. */
export const pressPowerButton = async (qmp: Qmp, deadline: AbortSignal): Promise<void> => {
  const press = (): void => void qmp.execute('system_powerdown').catch(() => {})
  press()
  const timer = setInterval(press, pressInterval)
  try {
    await abortable(qmp.closed, deadline)
  } finally {
    clearInterval(timer)
  }
}
