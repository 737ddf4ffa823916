import { runKindsSuite } from '../conformance/runs/kinds.suite.ts';
import { startKubernetesTarget } from './kubernetes-target.ts';

runKindsSuite('a real kube-apiserver', startKubernetesTarget);
