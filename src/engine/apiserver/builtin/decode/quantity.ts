import { canonicalQuantity, QuantityError } from '../../../../kube/quantity.ts';

/** The one way Kubernetes prints a quantity (`1000m` is `1`); undefined when the text is not one. */
export function quantityOrNothing(text: string | number): string | undefined {
  try {
    return canonicalQuantity(text);
  } catch (error) {
    if (error instanceof QuantityError) return undefined;
    throw error;
  }
}

/** What Kubernetes says about a text that is no quantity. */
export function quantityError(text: string): string | undefined {
  try {
    canonicalQuantity(text);
    return undefined;
  } catch (error) {
    if (error instanceof QuantityError) return error.message;
    throw error;
  }
}
