import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain'
import * as CallbackManagerModule from '@langchain/core/callbacks/manager'

export function instrument() {
  new LangChainInstrumentation().manuallyInstrument(CallbackManagerModule)
}
