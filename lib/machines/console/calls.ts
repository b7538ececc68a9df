import type { Principal } from '#lib/access/principal.ts'
import { createKeyedLimiter } from '#lib/async/limiter.ts'
import { readSerialOutput } from '#lib/hypervisor/files/serial-output.ts'
import { assertMayEnter } from '../access.ts'
import type { MachineContext } from '../context.ts'
import type { GuestConnection } from '../tunnels/tunnels.ts'
import type { Feeds } from './feeds.ts'
import type { ConsoleQuery } from './schemas.ts'
import { compileSearch, searchLines } from './search.ts'
import { serveConsole } from './session.ts'
import { formatGap, readPieces } from './text.ts'
import { createWriters } from './writers.ts'

/** The output of a console as text, and where it is in all output of the guest. */
export interface ConsoleText {
  /** The offset of the first byte that is kept, from the one asked for on; and the offset after the last byte. */
  readonly offset: number
  readonly end: number
  readonly stream: ReadableStream<Uint8Array>
}

/** The serial consoles of machines. Each call throws `not-found`, and `forbidden` unless the caller may enter the machine. */
export interface ConsoleCalls {
  /** Opens a console in any state of the machine. Throws `conflict` and `unsupported` as `Writers.claim`. */
  openConsole(
    reference: string,
    caller: Principal,
    query: Pick<ConsoleQuery, 'offset' | 'writer'>,
  ): Promise<GuestConnection>
  /**
   * Reads the output so far, or the lines of it that match a pattern. `reauthenticate` gives the caller with the present rights,
   * since a slow client decides how long the reading takes. Throws `invalid` for a bad pattern.
   */
  readConsole(
    reference: string,
    caller: Principal,
    query: Pick<ConsoleQuery, 'offset' | 'search'>,
    reauthenticate: () => Promise<Principal>,
  ): Promise<ConsoleText>
}

/** How many searches run at the same time. */
const searchers = 2
/** Milliseconds after which the rights of a reader are checked again. */
const checkInterval = 1_000

export const createConsoleCalls = ({
  driver,
  inventory,
  feeds,
}: Pick<MachineContext, 'driver' | 'inventory'> & { readonly feeds: Feeds }): ConsoleCalls => {
  const writers = createWriters(driver)
  const searches = createKeyedLimiter(searchers)
  const enter = (reference: string, caller: Principal) => {
    const view = inventory.find(reference)
    assertMayEnter(caller, view)
    return view
  }
  return {
    async openConsole(reference, caller, { offset, writer: claim }) {
      const view = enter(reference, caller)
      let onLost = (_username: string): void => {}
      const writer =
        claim && writers.claim(view, caller, { takesOver: claim === 'take-over', onLost: username => onLost(username) })
      return {
        relay: socket =>
          serveConsole(socket, {
            home: view.home,
            offset,
            writer,
            openFeed: onOutput => feeds.open(view.home, onOutput),
            onLost: listener => void (onLost = listener),
          }),
        destroy: () => writer?.[Symbol.dispose](),
      }
    },
    async readConsole(reference, caller, { offset: from, search }, reauthenticate) {
      const { id, home } = enter(reference, caller)
      const pattern = search === undefined ? undefined : await compileSearch(search)
      const { offset, start, end } = await readSerialOutput(home, from, 0)
      let checkedAt = performance.now()
      async function* readChecked() {
        for await (const piece of readPieces(home, from)) {
          if (performance.now() - checkedAt > checkInterval) {
            enter(id, await reauthenticate())
            checkedAt = performance.now()
          }
          yield piece
        }
      }
      async function* toText(): AsyncGenerator<Uint8Array> {
        for await (const piece of readChecked()) {
          if (piece.gap !== undefined) yield Buffer.from(formatGap(piece))
          yield piece.bytes
        }
      }
      const text = pattern ? searchLines(readChecked(), pattern) : toText()
      const next = (): Promise<IteratorResult<Uint8Array, unknown>> =>
        // The other calls go on between two matches of a search.
        pattern ? searches.run('', () => text.next()) : text.next()
      return {
        offset: Math.max(offset, start),
        end,
        stream: new ReadableStream(
          {
            async pull(controller) {
              const { value, done } = await next()
              if (done) controller.close()
              else controller.enqueue(value)
            },
            cancel: async () => void (await text.return(undefined)),
          },
          { highWaterMark: 0 },
        ),
      }
    },
  }
}
