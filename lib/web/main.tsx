import { render } from 'preact'
import { App } from './app.tsx'
import { loadSession } from './state/session.ts'

render(<App />, document.body)
void loadSession()
