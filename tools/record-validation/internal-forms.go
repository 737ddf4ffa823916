// Writes how the internal Go types of Kubernetes look as JSON, next to where each field stands in the served version.
// Messages of kube-apiserver print internal objects (Go field names, zero values included), and equality there is that of
// Go structs, so the validation needs both. Run in the module that pins Kubernetes:
//
//	cd test/cluster/kubernetes && go run ../../../tools/record-validation/internal-forms.go
package main

import (
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"

	"k8s.io/kubernetes/pkg/apis/admissionregistration"
	"k8s.io/kubernetes/pkg/apis/apps"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	"k8s.io/kubernetes/pkg/apis/batch"
	"k8s.io/kubernetes/pkg/apis/certificates"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/discovery"
	"k8s.io/kubernetes/pkg/apis/flowcontrol"
	"k8s.io/kubernetes/pkg/apis/networking"
	"k8s.io/kubernetes/pkg/apis/node"
	"k8s.io/kubernetes/pkg/apis/policy"
	"k8s.io/kubernetes/pkg/apis/rbac"
	"k8s.io/kubernetes/pkg/apis/resource"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	"k8s.io/kubernetes/pkg/apis/storage"
)

var roots = [][2]any{
	{core.Pod{}, corev1.Pod{}},
	{core.PodTemplate{}, corev1.PodTemplate{}},
	{core.Service{}, corev1.Service{}},
	{core.PersistentVolume{}, corev1.PersistentVolume{}},
	{core.PersistentVolumeClaim{}, corev1.PersistentVolumeClaim{}},
	{core.Node{}, corev1.Node{}},
	{core.Endpoints{}, corev1.Endpoints{}},
	{core.ResourceQuota{}, corev1.ResourceQuota{}},
	{core.Event{}, corev1.Event{}},
	{apps.Deployment{}, appsv1.Deployment{}},
	{apps.ReplicaSet{}, appsv1.ReplicaSet{}},
	{apps.StatefulSet{}, appsv1.StatefulSet{}},
	{apps.DaemonSet{}, appsv1.DaemonSet{}},
	{batch.Job{}, batchv1.Job{}},
	{batch.CronJob{}, batchv1.CronJob{}},
	{autoscaling.HorizontalPodAutoscaler{}, autoscalingv2.HorizontalPodAutoscaler{}},
	{networking.Ingress{}, networkingv1.Ingress{}},
	{networking.IngressClass{}, networkingv1.IngressClass{}},
	{networking.NetworkPolicy{}, networkingv1.NetworkPolicy{}},
	{networking.IPAddress{}, networkingv1.IPAddress{}},
	{networking.ServiceCIDR{}, networkingv1.ServiceCIDR{}},
	{policy.PodDisruptionBudget{}, policyv1.PodDisruptionBudget{}},
	{rbac.RoleBinding{}, rbacv1.RoleBinding{}},
	{rbac.ClusterRole{}, rbacv1.ClusterRole{}},
	{storage.StorageClass{}, storagev1.StorageClass{}},
	{storage.CSIDriver{}, storagev1.CSIDriver{}},
	{storage.CSINode{}, storagev1.CSINode{}},
	{storage.VolumeAttachment{}, storagev1.VolumeAttachment{}},
	{scheduling.PriorityClass{}, schedulingv1.PriorityClass{}},
	{certificates.CertificateSigningRequest{}, certificatesv1.CertificateSigningRequest{}},
	{discovery.EndpointSlice{}, discoveryv1.EndpointSlice{}},
	{node.RuntimeClass{}, nodev1.RuntimeClass{}},
	{admissionregistration.ValidatingWebhookConfiguration{}, admissionv1.ValidatingWebhookConfiguration{}},
	{admissionregistration.MutatingWebhookConfiguration{}, admissionv1.MutatingWebhookConfiguration{}},
	{admissionregistration.ValidatingAdmissionPolicy{}, admissionv1.ValidatingAdmissionPolicy{}},
	{admissionregistration.ValidatingAdmissionPolicyBinding{}, admissionv1.ValidatingAdmissionPolicyBinding{}},
	{flowcontrol.FlowSchema{}, flowcontrolv1.FlowSchema{}},
	{flowcontrol.PriorityLevelConfiguration{}, flowcontrolv1.PriorityLevelConfiguration{}},
	{resource.ResourceClaim{}, resourcev1.ResourceClaim{}},
	{resource.ResourceClaimTemplate{}, resourcev1.ResourceClaimTemplate{}},
	{resource.DeviceClass{}, resourcev1.DeviceClass{}},
}

// Fields that conversion moves: the served name within the object that the containing struct is made from.
var moved = map[string]string{
	"PodSecurityContext.HostNetwork":           "hostNetwork",
	"PodSecurityContext.HostPID":               "hostPID",
	"PodSecurityContext.HostIPC":               "hostIPC",
	"PodSecurityContext.ShareProcessNamespace": "shareProcessNamespace",
	"PodSecurityContext.HostUsers":             "hostUsers",
	"NodeSpec.DoNotUseExternalID":              "externalID",
	"RBDVolumeSource.CephMonitors":             "monitors",
	"RBDVolumeSource.RBDImage":                 "image",
	"RBDVolumeSource.RBDPool":                  "pool",
	"RBDVolumeSource.RadosUser":                "user",
	"RBDPersistentVolumeSource.CephMonitors":   "monitors",
	"RBDPersistentVolumeSource.RBDImage":       "image",
	"RBDPersistentVolumeSource.RBDPool":        "pool",
	"RBDPersistentVolumeSource.RadosUser":      "user",
}

var forms = map[string][]string{}

func main() {
	for _, root := range roots {
		visit(reflect.TypeOf(root[0]), reflect.TypeOf(root[1]))
	}
	names := make([]string, 0, len(forms))
	for name := range forms {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Println("// Written by tools/record-validation/internal-forms.go; see there.")
	fmt.Println("// One line per Go type: `Key:type`, `Key=place/in/served/object:type` where that is not the key in lower camel case, `!` if left out when empty.")
	fmt.Println("export const INTERNAL_FORMS = `")
	for _, name := range names {
		fmt.Printf("%s %s\n", name, strings.Join(forms[name], " "))
	}
	fmt.Println("`;")
}

func visit(internal, served reflect.Type) {
	name := formName(internal)
	if _, done := forms[name]; done {
		return
	}
	forms[name] = nil
	forms[name] = fields(internal, served, "")
}

// Names repeat across packages (core.ResourceClaim, resource.ResourceClaim); core is the default.
func formName(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	group := parts[len(parts)-1]
	if group == "core" || group == "v1" {
		return t.Name()
	}
	return group + "." + t.Name()
}

func lowerFirst(s string) string {
	return strings.ToLower(s[:1]) + s[1:]
}

func fields(internal, served reflect.Type, prefix string) []string {
	rows := []string{}
	for i := 0; i < internal.NumField(); i++ {
		field := internal.Field(i)
		if !field.IsExported() || field.Name == "TypeMeta" {
			continue
		}
		other, found := served.FieldByName(field.Name)
		tag := strings.Split(field.Tag.Get("json"), ",")
		if tag[0] == "-" {
			continue
		}
		if field.Anonymous && tag[0] == "" {
			inner := prefix
			if found {
				if name := strings.Split(other.Tag.Get("json"), ",")[0]; name != "" {
					inner = prefix + name + "/"
				}
			} else {
				other = reflect.StructField{Type: served}
			}
			rows = append(rows, fields(field.Type, other.Type, inner)...)
			continue
		}
		key := field.Name
		if tag[0] != "" {
			key = tag[0]
		}
		wire := moved[internal.Name()+"."+field.Name]
		otherType := field.Type
		if found {
			wire = strings.Split(other.Tag.Get("json"), ",")[0]
			otherType = other.Type
		} else if wire == "" {
			fmt.Fprintf(os.Stderr, "no served field for %s.%s\n", internal.Name(), field.Name)
		}
		row := key
		if prefix+wire != lowerFirst(key) {
			row += "=" + prefix + wire
		}
		row += ":" + describe(field.Type, otherType)
		for _, option := range tag[1:] {
			if option == "omitempty" || option == "omitzero" {
				row += "!"
				break
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func describe(internal, served reflect.Type) string {
	switch internal.PkgPath() + "." + internal.Name() {
	case "k8s.io/apimachinery/pkg/api/resource.Quantity":
		return "quantity"
	case "k8s.io/apimachinery/pkg/apis/meta/v1.Time", "k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":
		return "time"
	case "k8s.io/apimachinery/pkg/util/intstr.IntOrString":
		return "intstr"
	case "k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1", "k8s.io/apimachinery/pkg/runtime.RawExtension":
		return "raw"
	}
	switch internal.Kind() {
	case reflect.Pointer:
		return "*" + describe(internal.Elem(), element(served))
	case reflect.Slice:
		if internal.Elem().Kind() == reflect.Uint8 {
			return "*bytes"
		}
		return "[" + describe(internal.Elem(), element(served))
	case reflect.Map:
		return "{" + describe(internal.Elem(), element(served))
	case reflect.Struct:
		if served.Kind() == reflect.Pointer {
			served = served.Elem()
		}
		visit(internal, served)
		return "#" + formName(internal)
	case reflect.Interface:
		return "raw"
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	}
	return "number"
}

func element(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return t.Elem()
	}
	return t
}
