import { BrowserRouter } from 'react-router'
import { OwnDocument } from './lib/own-document.tsx'
import { Router } from './router.tsx'

export function App() {
  return (
    <BrowserRouter>
      <OwnDocument>
        <Router />
      </OwnDocument>
    </BrowserRouter>
  )
}
