/** A process for tests to kill: it opens an embedded driver, starts its demo machine and prints the machine's id. */
import { createEmbeddedBench } from './embedded-bench.ts'
import { patience } from '../waiting.ts'

const driver = createEmbeddedBench(process.argv[2]!).driver()
await driver.open(() => {})
const { id } = await driver.createDemo()
await driver.run(id, 'start', { force: false, deadline: AbortSignal.timeout(patience) })
console.log(id)
