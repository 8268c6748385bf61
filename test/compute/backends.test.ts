// Every case on every backend that needs nothing but a processor.
import { PROCESSOR_BACKENDS, testCases } from "./backends.ts";

testCases(PROCESSOR_BACKENDS);
