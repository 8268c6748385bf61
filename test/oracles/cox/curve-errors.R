# Oracle of the errors of a Cox model's curves: survfit(coxph) of R's survival, with both treatments of ties.
# Run from the repository root: Rscript test/oracles/cox/curve-errors.R   (writes test/oracles/cox/curve-errors.json)
suppressMessages({library(survival); library(jsonlite)})
lung<-na.omit(read.csv("test/tables/lung.csv")[,c("time","status","age","sex","ph.ecog")])
lung$event<-1*(lung$status==2)
lung$month<-ceiling(lung$time/30)
persons<-data.frame(age=c(50,62.5,81),sex=c(1,2,1),ph.ecog=c(0,1,2))
tight<-coxph.control(eps=1e-13,toler.chol=1e-14,iter.max=50)
one<-function(formula,times,ties){
  fit<-coxph(formula,lung,ties=ties,control=tight)
  s<-summary(survfit(fit,newdata=persons),times=times,extend=TRUE)
  # The error of S over S is that of the cumulative hazard.
  list(surv=t(s$surv),error=t(s$std.err/s$surv))
}
days<-c(5,60,180.5,365,700,1022); months<-c(1,3,8,20,34)
out<-list(source=paste0("R ",getRversion(),", survival ",packageVersion("survival")),
 persons=as.matrix(persons),days=days,months=months,
 rows=list(time=lung$time,month=lung$month,event=lung$event,x=unname(as.matrix(lung[,c("age","sex","ph.ecog")]))),
 plain=list(efron=one(Surv(time,event)~age+sex+ph.ecog,days,"efron"),breslow=one(Surv(time,event)~age+sex+ph.ecog,days,"breslow")),
 tied=list(efron=one(Surv(month,event)~age+sex+ph.ecog,months,"efron"),breslow=one(Surv(month,event)~age+sex+ph.ecog,months,"breslow")))
writeLines(toJSON(out,digits=NA,auto_unbox=TRUE,matrix="rowmajor"),"test/oracles/cox/curve-errors.json")
