// Command stockd answers stock levels over HTTP.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"time"
)

const (
	address      = "127.0.0.1:8080"
	readTimeout  = 5 * time.Second
	writeTimeout = 5 * time.Second
)

var stock = map[string]int{"bolt-m4": 120, "nut-m4": 80}

func levels(w http.ResponseWriter, r *http.Request) {
	sku := r.URL.Query().Get("sku")
	quantity, known := stock[sku]
	if !known {
		http.NotFound(w, r)
		return
	}
	if err := json.NewEncoder(w).Encode(map[string]int{sku: quantity}); err != nil {
		log.Printf("cannot answer %s: %v", sku, err)
	}
}

func main() {
	http.HandleFunc("/levels", levels)
	server := &http.Server{Addr: address, ReadTimeout: readTimeout, WriteTimeout: writeTimeout}
	log.Fatal(server.ListenAndServe())
}
