/**
 * The input of a running guest's serial line. What the guest writes is not here: the drivers record it to the serial log in the
 * machine's folder (see `files/serial-output.ts`).
 */
export interface SerialPort {
  /**
   * Sends bytes to the guest, in the order of the calls. Throws `conflict` if the guest has stopped, or if it has not yet taken
   * what was sent before and more would have to wait in memory.
   */
  write(bytes: Uint8Array): void
  /** Ends the use of the port. What was written before still reaches the guest. */
  close(): void
}
