import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import type { SerialPort } from '#lib/hypervisor/serial-port.ts'

/** The right to write to one machine's serial line, which one connection has at a time. Disposing of it gives it back. */
export interface Writer extends Disposable {
  /** Sends bytes to the guest, in the order of the calls. Throws `conflict` if the guest does not take them. */
  write(bytes: Uint8Array): Promise<void>
}

/** Who writes to the consoles of which machines. */
export interface Writers {
  /**
   * Makes the caller the writer. Throws `conflict` if there is one, unless the caller takes over: then `onLost` of the other is
   * called with the name of the caller.
   */
  claim(
    view: Pick<MachineView, 'id' | 'name'>,
    caller: Pick<Principal, 'username'>,
    options: { readonly takesOver: boolean; readonly onLost: (username: string) => void },
  ): Writer
}

interface Claim {
  readonly username: string
  readonly onLost: (username: string) => void
  end(): void
}

/** Opens the port at the first input, and again after the machine was stopped and started. */
const createInput = (driver: HypervisorDriver, id: string) => {
  let port: SerialPort | undefined
  const close = (): void => {
    port?.close()
    port = undefined
  }
  const openAndWrite = async (bytes: Uint8Array): Promise<void> => {
    port ??= await driver.openSerial!(id)
    port.write(bytes)
  }
  return {
    async write(bytes: Uint8Array): Promise<void> {
      const wasOpen = port !== undefined
      try {
        await openAndWrite(bytes)
      } catch (error) {
        close()
        if (!wasOpen) throw error
        await openAndWrite(bytes)
      }
    },
    close,
  }
}

export const createWriters = (driver: HypervisorDriver): Writers => {
  const claims = new Map<string, Claim>()
  return {
    claim({ id, name }, { username }, { takesOver, onLost }) {
      if (!driver.openSerial)
        throw new ServiceError('unsupported', `Input to serial lines is unsupported by the ${driver.kind} driver.`)
      const present = claims.get(id)
      if (present && !takesOver)
        throw new ServiceError(
          'conflict',
          `${present.username} writes to the console of ${name}. Read it without writer=claim, or take over with writer=take-over.`,
        )
      const input = createInput(driver, id)
      let previous: Promise<unknown> = Promise.resolve()
      let isEnded = false
      const claim: Claim = {
        username,
        onLost,
        end() {
          isEnded = true
          void previous.finally(input.close)
        },
      }
      claims.set(id, claim)
      present?.end()
      present?.onLost(username)
      return {
        write(bytes) {
          const written = previous.then(() => {
            if (isEnded) throw new ServiceError('conflict', 'Another connection writes to this console now.')
            return input.write(bytes)
          })
          previous = written.catch(() => {})
          return written
        },
        [Symbol.dispose]() {
          if (!isEnded) claim.end()
          if (claims.get(id) === claim) claims.delete(id)
        },
      }
    },
  }
}
